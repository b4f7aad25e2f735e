// Norms of queries and keys: what they have, move and keep, and whose configurations have them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>

#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::read_model_text;
using testing::read_scenario_model;

/// 4 heads of 3, 2 of keys and values.
Layer layer_of(QueryKeyNorms norms, Normalization normalization = Normalization::rms_norm) {
  return transformer_layer({.hidden = 8,
                            .attention_heads = 4,
                            .kv_heads = 2,
                            .head_size = 3,
                            .query_key_norms = norms,
                            .ffn_hidden = 10,
                            .normalization = normalization,
                            .position_encoding = PositionEncoding::rotary});
}

double moved(const Layer& layer, const RankShape& shape, bool forward) {
  double bytes = 0.0;
  for (const PassWork& pass : work(layer, shape).passes) {
    bytes += (forward ? pass.forward : pass.backward).count();
  }
  return bytes;
}

TEST(QueryKeyNorms, HaveGainsOfOneHeadOrOfAll) {
  const auto gains = [](QueryKeyNorms norms, Normalization normalization, double ranks) {
    const RankShape shape{.tensor_parallel = ranks};
    return parameters_on_rank(layer_of(norms, normalization), shape).total() -
           parameters_on_rank(layer_of(QueryKeyNorms::none, normalization), shape).total();
  };
  using enum QueryKeyNorms;
  EXPECT_EQ(gains(each_head, Normalization::rms_norm, 1), 3 + 3);
  EXPECT_EQ(gains(all_heads, Normalization::rms_norm, 1), (4 + 2) * 3);
  EXPECT_EQ(gains(each_head, Normalization::layer_norm, 1), 2 * (3 + 3));  // and biases
  // Ranks that share heads all have the gains of one.
  EXPECT_EQ(gains(each_head, Normalization::rms_norm, 2), 3 + 3);
  EXPECT_EQ(gains(all_heads, Normalization::rms_norm, 2), (4 + 2) * 3 / 2);
  EXPECT_EQ(parameter_tensors(layer_of(each_head)), parameter_tensors(layer_of(none)) + 2);
}

TEST(QueryKeyNorms, MoveAndKeepQueriesAndKeys) {
  const Layer layer = layer_of(QueryKeyNorms::each_head);
  const Layer plain = layer_of(QueryKeyNorms::none);
  for (const double ranks : {1.0, 2.0}) {
    const RankShape shape{.sequence_length = 5, .tensor_parallel = ranks};
    const double elements = 5 * (4 + 2) * 3 / ranks;
    EXPECT_DOUBLE_EQ(moved(layer, shape, true) - moved(plain, shape, true), 4 * elements);
    EXPECT_DOUBLE_EQ(moved(layer, shape, false) - moved(plain, shape, false), 8 * elements);
    EXPECT_DOUBLE_EQ((kept_bytes(layer, shape) - kept_bytes(plain, shape)).count(), 2 * elements);
  }
  EXPECT_EQ(layer.launches.forward, plain.launches.forward + 2);
  EXPECT_EQ(layer.launches.backward, plain.launches.backward + 4);
}

/// An RMS norm of operators keeps two tensors in fp32, and is one of kRmsNorm's in
/// separate_operators_test.cpp; what the host takes for two is that for four norms less two.
TEST(QueryKeyNorms, OfSeparateOperatorsMoveAndKeepMore) {
  const Layer layer = layer_of(QueryKeyNorms::each_head);
  const Layer plain = layer_of(QueryKeyNorms::none);
  const RankShape shape{
      .sequence_length = 5, .fused_normalization = false, .fused_operators = false};
  const double elements = 5 * (4 + 2) * 3;
  EXPECT_DOUBLE_EQ(moved(layer, shape, true) - moved(plain, shape, true),
                   (6 + 20 + 6 + 4) * elements);
  EXPECT_DOUBLE_EQ((kept_bytes(layer, shape) - kept_bytes(plain, shape)).count(), 8 * elements);
  const auto issued = [](const Layer& of) { return of.separate_issue * of.launches.forward / 14; };
  EXPECT_NEAR(issued(layer) - issued(plain), (2 * 0.1 + 1.1 * 2 * 3 / 68) / 1.3, 1e-12);
  const double of_layer_norms =
      issued(layer_of(QueryKeyNorms::each_head, Normalization::layer_norm)) -
      issued(layer_of(QueryKeyNorms::none, Normalization::layer_norm));
  EXPECT_NEAR(of_layer_norms, 1.1 * 2 * 3 / 68 / 1.3, 1e-12);
}

TEST(QueryKeyNorms, LatentAttentionHasItsOwn) {
  const ModelReading reading =
      read_scenario_model(R"({"model": "deepseek_v3"})", {"/model/query_key_norms=\"each_head\""});
  EXPECT_NE(reading.problems.find("latent attention has norms of its own"), std::string::npos)
      << reading.problems;
}

std::optional<QueryKeyNorms> norms_of(const nlohmann::json& said) {
  nlohmann::json config = {{"hidden_size", 1024},      {"intermediate_size", 4096},
                           {"num_hidden_layers", 4},   {"num_attention_heads", 16},
                           {"num_key_value_heads", 8}, {"max_position_embeddings", 4096},
                           {"vocab_size", 32000}};
  config.update(said);
  const ModelReading reading = read_model_text(config.dump());
  EXPECT_FALSE(reading.has_errors) << reading.problems;
  if (!reading.read || !reading.read->transformer) return std::nullopt;
  return reading.read->transformer->query_key_norms;
}

TEST(QueryKeyNorms, AreOfTheKindsThatHaveThem) {
  using enum QueryKeyNorms;
  for (const char* kind : {"qwen3", "gemma3_text", "exaone4", "apertus", "hunyuan_v1_dense"}) {
    EXPECT_EQ(norms_of({{"model_type", kind}}), each_head) << kind;
  }
  for (const char* kind : {"olmo2", "olmo3"}) {
    EXPECT_EQ(norms_of({{"model_type", kind}}), all_heads) << kind;
  }
  for (const char* kind : {"llama", "gemma2", "arcee", "qwen2", "cohere", "cohere2", "phi"}) {
    EXPECT_EQ(norms_of({{"model_type", kind}}), none) << kind;
  }
  for (const auto& [kind, key, norms] : {std::tuple{"cohere", "use_qk_norm", all_heads},
                                         {"stablelm", "qk_layernorm", all_heads},
                                         {"phi", "qk_layernorm", each_head}}) {
    EXPECT_EQ(norms_of({{"model_type", kind}, {key, true}}), norms) << kind;
    EXPECT_EQ(norms_of({{"model_type", kind}, {key, false}}), none) << kind;
  }
  EXPECT_EQ(norms_of({{"model_type", "hunyuan_v1_dense"}, {"use_qk_norm", false}}), none);
}

TEST(QueryKeyNorms, AreOfTheKindsOfExpertsThatHaveThem) {
  using enum QueryKeyNorms;
  const auto experts = [](const char* kind, const char* count, nlohmann::json more = {}) {
    nlohmann::json config = {{"model_type", kind},
                             {count, 8},
                             {"num_experts_per_tok", 2},
                             {"moe_intermediate_size", 512}};
    config.update(more.is_null() ? nlohmann::json::object() : more);
    return norms_of(config);
  };
  EXPECT_EQ(experts("qwen3_moe", "num_experts"), each_head);
  EXPECT_EQ(experts("olmoe", "num_experts"), all_heads);
  EXPECT_EQ(experts("minimax_m2", "num_local_experts"), all_heads);
  EXPECT_EQ(experts("dots1", "n_routed_experts"), each_head);
  EXPECT_EQ(experts("glm4_moe", "n_routed_experts"), none);
  EXPECT_EQ(experts("glm4_moe", "n_routed_experts", {{"use_qk_norm", true}}), each_head);
  EXPECT_EQ(experts("bailing_moe", "num_experts", {{"use_qk_norm", true}}), each_head);
  EXPECT_EQ(experts("mixtral", "num_local_experts"), none);
  EXPECT_EQ(experts("hunyuan_v1_moe", "num_experts", {{"moe_topk", 2}}), each_head);
}

}  // namespace
}  // namespace headway
