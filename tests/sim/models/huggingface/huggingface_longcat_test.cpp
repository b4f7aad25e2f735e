#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/flops.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::parameters;
using testing::read_model_text;

nlohmann::json longcat() {
  return {{"model_type", "longcat_flash"},
          {"hidden_size", 6144},
          {"num_layers", 28},
          {"num_hidden_layers", 56},
          {"num_attention_heads", 64},
          {"head_dim", 64},
          {"qk_head_dim", 192},
          {"q_lora_rank", 1536},
          {"kv_lora_rank", 512},
          {"qk_nope_head_dim", 128},
          {"qk_rope_head_dim", 64},
          {"v_head_dim", 128},
          {"ffn_hidden_size", 12288},
          {"expert_ffn_hidden_size", 2048},
          {"n_routed_experts", 512},
          {"zero_expert_num", 256},
          {"moe_topk", 12},
          {"max_position_embeddings", 131072},
          {"vocab_size", 131072},
          {"tie_word_embeddings", false}};
}

/// 560 B (LongCat Team 2025, arXiv:2509.01322, abstract). By hand two tables; 28 layers of two of
/// latent attention (with a norm of the narrow rows), two MLPs of 3 h 12,288, 512 experts of 3 h
/// 2,048, a router, and five norms of which the library has four.
TEST(HuggingFaceLongcat, HasItsPublishedParameters) {
  const std::int64_t h = 6144;
  const std::int64_t attention =
      h * 1536 + 1536 * 64 * 192 + h * 576 + 512 * 64 * 256 + 64 * 128 * h + 1536 + 512;
  const std::int64_t layer =
      2 * attention + 2 * 3 * h * 12'288 + 512 * 3 * h * 2048 + 512 * h + 5 * h;
  const std::int64_t count = 2 * 131'072 * h + 28 * layer + h;
  EXPECT_NEAR(static_cast<double>(count), 560e9, 0.002 * 560e9);
  const ModelReading reading = read_model_text(longcat().dump());
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  EXPECT_EQ(parameters(reading), count);
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(parameters(again), count) << again.problems;
  EXPECT_FALSE(reading.read->model.is_validated);
}

/// Of 12 picks 8 work in the mean; about 27 B of a token (the same).
TEST(HuggingFaceLongcat, SomeOfItsExpertsDoNothing) {
  const ModelReading reading = read_model_text(longcat().dump());
  EXPECT_NE(reading.problems.find(
                "warning: experts that do nothing are taken to be picked as often as others"),
            std::string::npos)
      << reading.problems;
  EXPECT_NE(reading.problems.find("of 12 that a token picks 8 work"), std::string::npos);
  EXPECT_FALSE(reading.has_errors);
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->transformer->mixture_of_experts->experts_per_token, 8);
  EXPECT_EQ(reading.read->transformer->layers, 28 * 5);
  // Products of a token without its row of the table, which is none.
  const double products = forward_flops(reading.read->model, 1).products / 2.0;
  EXPECT_NEAR(products + 131'072.0 * 6144, 27e9, 0.05 * 27e9);
  nlohmann::json none = longcat();
  none["zero_expert_num"] = 0;
  const ModelReading all_work = read_model_text(none.dump());
  EXPECT_EQ(all_work.problems, "");
  EXPECT_EQ(all_work.read->transformer->mixture_of_experts->experts_per_token, 12);
}

TEST(HuggingFaceLongcat, WhatIsLeftOutIsAsInTheLibrary) {
  const ModelReading reading =
      read_model_text(R"({"model_type": "longcat_flash", "hidden_size": 6144,
        "num_hidden_layers": 56})");
  EXPECT_EQ(parameters(reading), parameters(read_model_text(longcat().dump()))) << reading.problems;
  const auto told = [](const char* key, const nlohmann::json& value, const char* what) {
    nlohmann::json config = longcat();
    config[key] = value;
    const std::string problems = read_model_text(config.dump()).problems;
    EXPECT_NE(problems.find(what), std::string::npos) << problems;
  };
  told("moe_topk", 1000, "1000 of 512");
  told("n_routed_experts", 0, "/n_routed_experts");
  told("num_foo_layers", 3, "\"num_foo_layers\" is not read");
  EXPECT_NE(read_model_text(R"({"model_type": "longcat_flash", "num_layers": 2})")
                .problems.find(R"(missing field "hidden_size")"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
