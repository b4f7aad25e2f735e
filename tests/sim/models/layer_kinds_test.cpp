#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using testing::ModelReading;
using testing::read_model_text;

/// 4 layers of 16 channels, 4 heads of 4 + 2 with values of 3, 8 experts of 5 of which 2 are met, a
/// shared one of 6 and a dense layer of 32 in front.
TransformerModel small_experts() {
  return {.layers = 4,
          .hidden = 16,
          .attention_heads = 4,
          .kv_heads = 4,
          .head_size = 6,
          .latent_attention = LatentAttention{.query_rank = 8,
                                              .key_value_rank = 7,
                                              .head_size_without_rotary = 4,
                                              .rotary_head_size = 2,
                                              .value_head_size = 3},
          .ffn_hidden = 32,
          .gated_mlp = true,
          .mixture_of_experts = MixtureOfExperts{.experts = 8,
                                                 .experts_per_token = 2,
                                                 .expert_hidden = 5,
                                                 .shared_expert_hidden = 6,
                                                 .leading_dense_layers = 1},
          .multi_token_prediction_layers = 1,
          .vocabulary = 100,
          .normalization = Normalization::rms_norm,
          .position_encoding = PositionEncoding::rotary,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false,
          .sequence_length = 8};
}

const Layer kDense = transformer_layer(small_experts());
const Layer kWithExperts = transformer_layer(small_experts(), {.experts = true});

std::vector<bool> with_experts(const TransformerModel& model) {
  std::vector<bool> kinds;
  for (int i = 0; i < model.layers; ++i) kinds.push_back(layer_variant(model, i).experts);
  return kinds;
}

GemmShape product(const Work& operators, std::string_view name) {
  for (const LinearWork& linear : operators.linears) {
    if (linear.name == name) return linear.forward;
  }
  ADD_FAILURE() << "no product named " << name;
  return {};
}

TEST(LayerKinds, DenseLayersLeadOrComeAtAnInterval) {
  TransformerModel model = small_experts();
  EXPECT_THAT(with_experts(model), ElementsAre(false, true, true, true));
  model.mixture_of_experts->leading_dense_layers = 0;
  model.mixture_of_experts->interval = 2;
  EXPECT_THAT(with_experts(model), ElementsAre(false, true, false, true));
  EXPECT_TRUE(layer_variant(model, model.layers - 1).experts);
}

TEST(LayerKinds, TheLastOfEverySoManyLayersAttendsToAll) {
  TransformerModel model = small_experts();
  model.sliding_window = SlidingWindow{.size = 2, .full_attention_interval = 3};
  std::vector<bool> windowed;
  for (int i = 0; i < 4; ++i) windowed.push_back(layer_variant(model, i).windowed);
  EXPECT_THAT(windowed, ElementsAre(true, true, false, true));
}

TEST(LayerKinds, ParametersOfLatentAttentionAndExperts) {
  const TransformerModel model = small_experts();
  const Parameters dense = parameters(transformer_layer(model));
  // 8 (16 + 4 x 6) queries, 16 (7 + 2) + 7 x 4 (4 + 3) keys and values, 4 x 3 x 16 projection, and
  // gains of 8 + 7.
  EXPECT_EQ(dense.of(Part::attention), 320 + 144 + 196 + 192 + 15);
  EXPECT_EQ(dense.of(Part::mlp), 3 * 16 * 32);
  EXPECT_EQ(dense.experts() + dense.of(Part::router), 0);
  EXPECT_EQ(dense.of(Part::normalization), 32);
  const Parameters mixed = parameters(transformer_layer(model, {.experts = true}));
  EXPECT_EQ(mixed.of(Part::attention), dense.of(Part::attention));
  EXPECT_EQ(mixed.of(Part::mlp), 3 * 16 * 6);
  EXPECT_EQ(mixed.of(Part::router), 8 * 16);
  EXPECT_EQ(mixed.experts(), 8 * 3 * 16 * 5);

  const Model layers = layers_of(model);
  EXPECT_EQ(parameters(layers).total(), dense.total() + 3 * mixed.total() + 16 + 2 * 1600);
  // Ahead: a layer with experts, a product of 32 x 16 and three norms.
  EXPECT_EQ(layers.ahead.layers, 1);
  EXPECT_EQ(parameters(layers.kind(layers.ahead.kind)).total(), mixed.total());
  EXPECT_EQ(parameters(layers.ahead.join).total(), 512 + 48);
}

TEST(LayerKinds, FlopsCountTheExpertsOfATokenAndThePartsOfAttention) {
  TransformerModel model = small_experts();
  // Attention of 852 weights and 2 x 4 heads x (6 + 3) a position, over half of 8; head 2 x 1,600.
  const double attention = 2 * 852.0 + 72.0 * 4;
  const double dense = attention + 2 * 3 * 16 * 32.0;
  const double mixed = attention + 2 * (3 * 16 * (2 * 5 + 6) + 8 * 16.0);
  const double head = 3200;
  const double prediction = mixed + 2 * 2 * 256.0 + head;
  EXPECT_DOUBLE_EQ(forward_flops(layers_of(model), 8).total().count(),
                   dense + 3 * mixed + head + prediction);
  // A window of 2 positions of 8 leaves 2 x (8 - 1) of the 32 pairs below the diagonal.
  model.sliding_window = SlidingWindow{.size = 2};
  EXPECT_DOUBLE_EQ(forward_flops(layers_of(model), 8).total().count(),
                   dense + 3 * mixed + head + prediction - 5 * 72.0 * 4 * (1 - 14.0 / 32.0));
}

TEST(LayerKinds, WorkOfLatentAttention) {
  // 2 tensor-parallel ranks of 8 tokens; the narrow products work on a rank's own 4.
  const RankShape shard{.sequence_length = 8, .tensor_parallel = 2, .sequence_parallel = true};
  const Work operators = work(kDense, shard);
  EXPECT_EQ(product(operators, "query_down"), (GemmShape{.m = 4, .n = 8, .k = 16}));
  EXPECT_EQ(product(operators, "query_up"), (GemmShape{.m = 8, .n = 12, .k = 8}));
  EXPECT_EQ(product(operators, "key_value_down"), (GemmShape{.m = 4, .n = 9, .k = 16}));
  EXPECT_EQ(product(operators, "key_value_up"), (GemmShape{.m = 8, .n = 14, .k = 7}));
  EXPECT_EQ(product(operators, "projection"), (GemmShape{.m = 8, .n = 16, .k = 6}));
  ASSERT_TRUE(operators.attention.has_value());
  // 2 heads x 8 x 8 / 2 pairs x 2 (6 + 3).
  EXPECT_DOUBLE_EQ(operators.attention->shape.forward_flops(), 2 * 32 * 18.0);
}

TEST(LayerKinds, WorkOfExperts) {
  // 4 ranks share 8 experts; 8 tokens of each go to 2 experts: 4 x 8 x 2 / 4 rows on 2 experts.
  const RankShape shard{.sequence_length = 8, .expert_parallel = 4};
  const Work operators = work(kWithExperts, shard);
  ASSERT_EQ(operators.grouped.size(), 2U);
  EXPECT_EQ(operators.grouped[0].experts, 2.0);
  EXPECT_EQ(operators.grouped[0].forward, (GemmShape{.m = 8, .n = 10, .k = 16}));
  EXPECT_EQ(operators.grouped[1].forward, (GemmShape{.m = 8, .n = 16, .k = 5}));
  EXPECT_EQ(operators.permuted_elements, 16 * 16.0);
  EXPECT_EQ(product(operators, "router"), (GemmShape{.m = 8, .n = 8, .k = 16}));
  EXPECT_EQ(product(operators, "shared_fc1"), (GemmShape{.m = 8, .n = 12, .k = 16}));
  EXPECT_EQ(product(operators, "shared_fc2"), (GemmShape{.m = 8, .n = 16, .k = 6}));
}

TEST(LayerKinds, DevicesThatSplitAnExpertHaveEachOthersTokens) {
  const RankShape shard{.sequence_length = 8,
                        .tensor_parallel = 2,
                        .sequence_parallel = true,
                        .expert_parallel = 4,
                        .expert_tensor_parallel = 5};
  // 4 own tokens x 5 x 2 rows on 2 experts of 5 / 5.
  const Work operators = work(kWithExperts, shard);
  EXPECT_EQ(operators.grouped[0].forward, (GemmShape{.m = 20, .n = 2, .k = 16}));
}

TEST(LayerKinds, TheBusiestExpertSetsThePaceUpToItsCapacity) {
  constexpr double kExperts = 8;
  RankShape shard{.expert_parallel = 4};
  EXPECT_EQ(expert_load(kExperts, shard), 1.0);
  // Twice the mean on one of 8, 6/7 on the others; two on a rank.
  shard.expert_imbalance = 2.0;
  EXPECT_DOUBLE_EQ(expert_load(kExperts, shard), (2.0 + 6.0 / 7.0) / 2.0);
  shard.expert_capacity = 1.25;
  EXPECT_DOUBLE_EQ(expert_load(kExperts, shard), (1.25 + 6.0 / 7.0) / 2.0);
  shard.expert_capacity = 0.5;
  EXPECT_DOUBLE_EQ(expert_load(kExperts, shard), 0.5);
}

constexpr const char* kExperts = R"({
  "schema": "headway/model/1", "layers": 4, "hidden": 16, "attention_heads": 4,
  "ffn_hidden": 32, "mlp": "gated", "vocabulary": 100, "sequence_length": 8,
  "mixture_of_experts": {"experts": 8, "experts_per_token": 2, "expert_hidden": 5,
                         "leading_dense_layers": 4},
  "latent_attention": {"key_value_rank": 7, "head_size_without_rotary": 4,
                       "rotary_head_size": 2, "value_head_size": 3}
})";

TEST(LayerKinds, ResolvedFormReadsBack) {
  std::string text = kExperts;
  text.replace(text.find("\"leading_dense_layers\": 4"), 25, "\"leading_dense_layers\": 3");
  const ModelReading first = read_model_text(text);
  EXPECT_EQ(first.problems, "");
  ASSERT_TRUE(first.read.has_value());
  EXPECT_EQ(first.read->transformer->head_size, 6);
  EXPECT_EQ((*first.read->resolved)["mixture_of_experts"]["interval"], 1);
  const ModelReading second = read_model_text(first.read->resolved->dump());
  EXPECT_EQ(second.problems, "");
  ASSERT_TRUE(second.read.has_value());
  EXPECT_EQ(second.read->transformer, first.read->transformer);
}

TEST(LayerKinds, SomeLayerHasExperts) {
  EXPECT_EQ(read_model_text(kExperts).problems, R"(error: no layer would have experts
  --> model.json:5:50   /mixture_of_experts/leading_dense_layers
   |
 5 |                          "leading_dense_layers": 4},
   |                                                  ^ the first one would be layer 5 of 4
  help: lower it, or leave the experts out
)");
}

TEST(LayerKinds, LatentAttentionSettlesTheHeads) {
  std::string text = kExperts;
  text.replace(text.find("\"leading_dense_layers\": 4"), 25, "\"leading_dense_layers\": 1");
  text.replace(text.find("\"attention_heads\": 4"), 20, "\"attention_heads\": 4, \"kv_heads\": 2");
  EXPECT_EQ(read_model_text(text).problems,
            R"(error: with latent attention "kv_heads" is attention_heads
  --> model.json:2:93   /kv_heads
   |
 2 |   "schema": "headway/model/1", "layers": 4, "hidden": 16, "attention_heads": 4, "kv_heads": 2,
   |                                                                                             ^ 2 instead of 4
  help: leave it out
)");
}

}  // namespace
}  // namespace headway
