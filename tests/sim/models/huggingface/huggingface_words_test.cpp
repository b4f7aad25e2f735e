#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/flops.h"
#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::ModelReading;
using testing::read_model_text;

std::string electra(const std::string& architecture, const std::string& sizes) {
  return R"({"model_type": "electra", "architectures": [")" + architecture + R"("],
    "num_hidden_layers": 12, "vocab_size": 30522, "type_vocab_size": 2,
    "max_position_embeddings": 512, "hidden_act": "gelu", )" +
         sizes + "}";
}

/// Clark et al. 2020, table 1: 14 M and 110 M. By hand three tables of e columns and a norm,
/// a product where e is not h, layers, a product of h and one of a column; of a generator a product
/// to e, a norm and a bias for each word.
TEST(HuggingFaceWords, ElectraHasTablesOfAWidthOfTheirOwn) {
  const auto tables = [](std::int64_t e) { return (30'522 + 512 + 2) * e + 2 * e; };
  const auto layers = [](std::int64_t h) { return 12 * (12 * h * h + 13 * h); };
  const std::string small = R"("hidden_size": 256, "embedding_size": 128,
    "num_attention_heads": 4, "intermediate_size": 1024)";
  EXPECT_EQ(tables(128) + 128 * 256 + 256 + layers(256), 13'483'008);
  expect_parameters(electra("ElectraForPreTraining", small),
                    13'483'008 + 256 * 256 + 256 + 256 + 1);
  expect_parameters(electra("ElectraForPreTraining", R"("hidden_size": 768, "embedding_size": 768,
    "num_attention_heads": 12, "intermediate_size": 3072)"),
                    109'483'009);
  EXPECT_EQ(tables(768) + layers(768) + 768 * 768 + 768 + 768 + 1, 109'483'009);
  expect_parameters(
      electra("ElectraForMaskedLM", R"("hidden_size": 256, "embedding_size": 768,
    "num_attention_heads": 4, "intermediate_size": 1024)"),
      tables(768) + 768 * 256 + 256 + layers(256) + 256 * 768 + 768 + 2 * 768 + 30'522);
}

/// A discriminator tells of each word one thing and says what it leaves out; 128 columns are the
/// library's default.
TEST(HuggingFaceWords, ElectraTellsWhichWordsWereReplaced) {
  const std::string small = R"("hidden_size": 256, "num_attention_heads": 4,
    "intermediate_size": 1024)";
  const ModelReading reading = read_model_text(electra("ElectraForPreTraining", small));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->resolved->at("table_width"), 128);
  EXPECT_DOUBLE_EQ(reading.read->model.last.loss_classes, 1.0);
  ASSERT_EQ(reading.read->model.left_out.size(), 1U);
  const ModelReading generator = read_model_text(electra("ElectraForMaskedLM", small));
  EXPECT_DOUBLE_EQ(generator.read->model.last.loss_classes, 30'522.0);
  EXPECT_TRUE(generator.read->model.left_out.empty());
  EXPECT_NE(read_model_text(electra("ElectraForPreTraining", R"("hidden_size": 256,
 "embedding_size": 0, "num_attention_heads": 4, "intermediate_size": 1024)"))
                .problems.find("/embedding_size"),
            std::string::npos);
}

/// As microsoft/deberta-v3-base has it.
nlohmann::json deberta() {
  return nlohmann::json::parse(R"({"model_type": "deberta-v2", "hidden_size": 768,
      "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
      "max_position_embeddings": 512, "relative_attention": true, "position_buckets": 256,
      "norm_rel_ebd": "layer_norm", "share_att_key": true, "pos_att_type": "p2c|c2p",
      "position_biased_input": false, "max_relative_positions": -1, "type_vocab_size": 0,
      "vocab_size": 128100, "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1})");
}

/// By hand, of h = 768: a table of words and its norm, 512 distances and theirs, 12 layers of
/// 12 h^2 + 13 h, 183,831,552; a product, a norm and a bias a word in front of the words.
TEST(HuggingFaceWords, DebertaHasItsPublishedParameters) {
  const std::int64_t h = 768;
  EXPECT_EQ(128'100 * h + 2 * h + 512 * h + 2 * h + 12 * (12 * h * h + 13 * h), 183'831'552);
  expect_parameters(deberta().dump(), 183'831'552 + h * h + h + 2 * h + 128'100);
  const ModelReading reading = read_model_text(deberta().dump());
  EXPECT_TRUE(reading.read->model.biases_scores);
  EXPECT_EQ(reading.read->resolved->at("relative_positions"), 512);
}

TEST(HuggingFaceWords, DebertasThatAreOtherwiseAreRefused) {
  const auto problems = [](const char* key, const nlohmann::json& value) {
    nlohmann::json config = deberta();
    config[key] = value;
    return read_model_text(config.dump()).problems;
  };
  EXPECT_NE(problems("share_att_key", false).find("have matrices of their own"), std::string::npos);
  EXPECT_NE(problems("pos_att_type", {"c2p"}).find("are not compared both ways"),
            std::string::npos);
  EXPECT_EQ(problems("pos_att_type", {"c2p", "p2c"}), "");
  EXPECT_NE(problems("conv_kernel_size", 3).find("\"conv_kernel_size\" is not read"),
            std::string::npos);
}

std::string modernbert(const std::string& more = "") {
  return R"({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"],
 "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 22,
 "num_attention_heads": 12, "max_position_embeddings": 8192, "vocab_size": 50368,
 "tie_word_embeddings": true, "decoder_bias": true, "classifier_bias": false,
 "embedding_dropout": 0.0)" +
         more + "}";
}

/// 149 M (Warner et al. 2024, arXiv:2412.13663, table 4). By hand a table of h = 768 and its norm,
/// 22 layers of 4 h^2 + 3 h 1152 and two norms, of which the first has one less, a norm behind
/// them, and a product, a norm and a bias a word in front of the words.
TEST(HuggingFaceWords, ModernBertHasItsPublishedParameters) {
  const std::int64_t h = 768;
  EXPECT_EQ(50'368 * h + h + 22 * (4 * h * h + 3 * h * 1152 + 2 * h) - h + h + h * h + h + 50'368,
            149'655'232);
  expect_parameters(modernbert(), 149'655'232);
  // 395 M: 28 layers of 1,024 and 2,624.
  expect_parameters(R"({"model_type": "modernbert", "hidden_size": 1024, "vocab_size": 50368,
    "intermediate_size": 2624, "num_hidden_layers": 28, "num_attention_heads": 16,
    "attention_bias": false, "mlp_bias": false, "norm_bias": false,
    "global_attn_every_n_layers": 3, "local_attention": 128})",
                    395'881'664);
}

/// Layers 1, 4, ... 22 see all, the others 64 positions on either side.
TEST(HuggingFaceWords, ModernBertHasWindowsInTwoOfThreeLayers) {
  const ModelReading reading = read_model_text(modernbert());
  ASSERT_TRUE(reading.read.has_value());
  const Model& model = reading.read->model;
  EXPECT_FALSE(model.most_positions.has_value());
  EXPECT_FALSE(model.layer(0).attention->dropout);
  EXPECT_FALSE(model.layer(0).attention->causal);
  EXPECT_DOUBLE_EQ(model.layer(0).attention->window, 0.0);
  EXPECT_DOUBLE_EQ(model.layer(1).attention->window, 64.0);
  EXPECT_EQ(std::ranges::count(model.layers, 0), 8);
  // Of 8,192 positions each attends to 128 but at both ends, where the window is cut: 64 / 8,192 of
  // a half of it less. A product of queries and keys, one with the values.
  const double attended = 128.0 * (1.0 - 0.5 * 64.0 / 8192.0);
  EXPECT_DOUBLE_EQ(forward_flops(model.layer(1), 8192).attention, 2.0 * 2.0 * 768.0 * attended);
  EXPECT_DOUBLE_EQ(forward_flops(model.layer(0), 8192).attention, 2.0 * 2.0 * 768.0 * 8192);
  // Later files list the layers: here every second one sees all.
  std::string types;
  for (int layer = 0; layer < 22; ++layer) {
    types += layer > 0 ? ", " : "";
    types += layer % 2 == 0 ? R"("full_attention")" : R"("sliding_attention")";
  }
  const ModelReading listed = read_model_text(modernbert(R"(, "layer_types": [)" + types + "]"));
  EXPECT_EQ(listed.problems, "");
  EXPECT_EQ(listed.read->resolved->at("full_attention_interval"), 2);
}

TEST(HuggingFaceWords, ModernBertsThatAreOtherwiseAreRefused) {
  const auto problems = [](const std::string& more) {
    return read_model_text(R"({"model_type": "modernbert", "hidden_size": 768, "vocab_size": 50368,
 "num_hidden_layers": 3, "num_attention_heads": 12, "intermediate_size": 1152,
 )" + more + "}")
        .problems;
  };
  EXPECT_EQ(
      problems(R"("layer_types": ["sliding_attention", "sliding_attention", "full_attention"])"),
      R"(error: full attention does not come at an even interval
  --> model.json:3:17   /layer_types
   |
 3 |  "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]}
   |                 ^
  help: read are models of which the first of every n layers attends to all
)");
  EXPECT_NE(problems(R"("layer_types": ["full_attention"])").find("1 for 3 layers"),
            std::string::npos);
  EXPECT_EQ(problems(R"("attention_bias": false, "mlp_bias": true)"),
            R"(error: attention has biases and this has none, or the other way round
  --> model.json:3:39   /mlp_bias
   |
 3 |  "attention_bias": false, "mlp_bias": true}
   |                                       ^^^^
  help: read are models that have biases everywhere or nowhere
)");
  EXPECT_NE(read_model_text(R"({"model_type": "modernbert", "hidden_size": 768,
 "num_hidden_layers": 22, "num_attention_heads": 12, "intermediate_size": 1152})")
                .problems.find(R"(missing field "vocab_size")"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
