#include "sim/models/transformer/mobilebert.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::read_model_text;

MobileBertModel mobile_of_24() {
  MobileBertModel model;
  model.layers = 24;
  model.vocabulary = 30'522;
  return model;
}

/// Of h = 512 and w = 128, in front of a layer two products of h w and norms, queries and keys of
/// w^2, values of h w, a product and a norm, four MLPs of 2 w h and a norm, a product of w h and a
/// norm.
std::int64_t mobile_layers_by_hand(std::int64_t h, std::int64_t w) {
  const std::int64_t attention = 2 * (w * w + w) + h * w + w + w * w + w + 2 * w;
  const std::int64_t mlp = 2 * w * h + h + w + 2 * w;
  return 24 * (2 * (h * w + w + 2 * w) + attention + 4 * mlp + w * h + h + 2 * h);
}

/// google/mobilebert-uncased has 24,581,888 without its head: a table of 128 columns, a product of
/// three of its rows, positions, segments and a norm in front of the layers. The head has a product
/// and a norm of h, 384 columns of words besides those of the table, a bias each, and two classes.
TEST(MobileBert, HasThePublishedParameters) {
  const std::int64_t h = 512;
  const std::int64_t tables = 30'522 * 128 + 3 * 128 * h + h + 512 * h + 2 * h + 2 * h;
  EXPECT_EQ(tables + mobile_layers_by_hand(h, 128), 24'581'888);
  const std::int64_t head = h * h + h + 2 * h + 30'522 * 384 + 30'522 + 2 * h + 2;
  EXPECT_EQ(parameter_count(layers_of(mobile_of_24())), 24'581'888 + head);
  MobileBertModel pools = mobile_of_24();
  pools.pooler = true;
  EXPECT_EQ(parameter_count(layers_of(pools)), 24'581'888 + head + h * h + h);
}

/// A word of 512: products of its own, and two products of 128 with each of 512 positions.
TEST(MobileBert, WorksInsideOnFewerChannels) {
  const double h = 512;
  const double w = 128;
  const Model model = layers_of(mobile_of_24());
  const double layer = 2 * h * w + 2 * w * w + h * w + w * w + 4 * 2 * w * h + w * h;
  const double ends = 3 * 128 * h + h * h + 30'522 * h + 2 * h / 512;
  EXPECT_NEAR(forward_flops(model, 512).total().count() / 2.0, 24 * (layer + 2 * 512 * w) + ends,
              1.0);
  const RankShape shape{.sequence_length = 512.0};
  const Work inside = work(model.layer(0), shape);
  ASSERT_EQ(inside.linears.size(), 3U + 2 + 4 * 2 + 1);
  EXPECT_EQ(inside.linears[0].forward, (GemmShape{512, 256, 128}));
  EXPECT_EQ(inside.linears[1].forward, (GemmShape{512, 128, 512}));
  EXPECT_FALSE(inside.attention->shape.causal);
  EXPECT_DOUBLE_EQ(model.layer(0).output, 512.0);
  EXPECT_DOUBLE_EQ(model.first.output, 512.0);
}

/// Without dropout, in 2 bytes: what comes in, both norms behind narrow products; queries, keys,
/// values, what attention gives, queries' rows and the sum in front of a norm, 6 w, and 4 bytes a
/// head; of each MLP the sum, what it takes, and what a ReLU gives; the row that is widened and the
/// sum behind.
TEST(MobileBert, KeepsWhatItsGradientsTake) {
  MobileBertModel fields = mobile_of_24();
  fields.dropout = false;
  const Model model = layers_of(fields);
  const double h = 512;
  const double w = 128;
  const RankShape word{.sequence_length = 512.0};
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(0), word).count(),
                   512 * (2 * (h + 2 * w + 6 * w + 4 * (2 * w + h) + w + h) + 4 * 4));
  EXPECT_DOUBLE_EQ(kept_bytes(model.first, word).count(), 512 * 2 * (3 * 128 + h));
}

TEST(MobileBert, ConfigurationsAreRead) {
  const std::int64_t head = 512 * 512 + 512 + 1024 + 30'522 * 385 + 1026;
  const nlohmann::json config = {{"model_type", "mobilebert"},
                                 {"architectures", {"MobileBertForPreTraining"}},
                                 {"hidden_size", 512},
                                 {"num_hidden_layers", 24},
                                 {"num_attention_heads", 4},
                                 {"intermediate_size", 512},
                                 {"intra_bottleneck_size", 128},
                                 {"true_hidden_size", 128},
                                 {"num_feedforward_networks", 4},
                                 {"embedding_size", 128},
                                 {"vocab_size", 30522},
                                 {"type_vocab_size", 2},
                                 {"max_position_embeddings", 512},
                                 {"hidden_dropout_prob", 0.0},
                                 {"attention_probs_dropout_prob", 0.1},
                                 {"hidden_act", "relu"},
                                 {"normalization_type", "no_norm"},
                                 {"classifier_activation", false},
                                 {"use_bottleneck", true},
                                 {"use_bottleneck_attention", false},
                                 {"key_query_shared_bottleneck", true},
                                 {"trigram_input", true}};
  expect_parameters(config.dump(), 24'581'888 + head);
  expect_parameters(R"({"model_type": "mobilebert"})", 24'581'888 + head + 512 * 512 + 512);
  const auto told = [&](const char* key, const nlohmann::json& value, const char* what) {
    nlohmann::json changed = config;
    changed[key] = value;
    const std::string problems = read_model_text(changed.dump()).problems;
    EXPECT_NE(problems.find(what), std::string::npos) << problems;
  };
  told("trigram_input", false, "the layers are not as MobileBERT has them");
  told("use_bottleneck_attention", true, "read are models where this is false");
  told("num_attention_heads", 3, "3 does not divide 128");
  told("embedding_size", 1024, "1024, where layers have 512");
  told("num_foo_layers", 3, "\"num_foo_layers\" is not read");
  EXPECT_NE(read_model_text(R"({"schema": "headway/model/1", "family": "mobilebert", "layers": 1,
 "hidden": 64, "attention_heads": 2, "ffn_hidden": 64, "vocabulary": 9, "table_width": 8,
 "positions": 16, "predicted_words": 17})")
                .problems.find("17 of 16"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
