// Layers with a state and sparse attention, small enough to add up on paper.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

/// 8 channels; states of 4 heads of 3 x 5 in 2 groups; attention of 2 heads of 4 with one of keys;
/// an MLP of 10, and 6 experts of 7.
TransformerModel half_layers() {
  return {.layers = 4,
          .hidden = 8,
          .attention_heads = 2,
          .kv_heads = 1,
          .head_size = 4,
          .state_space =
              StateSpace{.heads = 4, .head_size = 3, .state_size = 5, .groups = 2, .chunk = 16},
          .layer_pattern = "M*-E",
          .ffn_hidden = 10,
          .mixture_of_experts =
              MixtureOfExperts{.experts = 6, .experts_per_token = 2, .expert_hidden = 7},
          .vocabulary = 50,
          .normalization = Normalization::rms_norm,
          .position_encoding = PositionEncoding::none,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false,
          .sequence_length = 32};
}

TEST(HybridLayers, EachLetterIsHalfALayer) {
  const Model model = layers_of(half_layers());
  ASSERT_EQ(model.kinds.size(), 4U);
  const auto total = [&](int layer) { return parameters(model.layer(layer)).total(); };
  // 12 channels and a gate, 2 x 2 x 5 in and out of the state, 4 steps; 12 x 8 out; filters of 4
  // and a bias; 3 numbers a head; norms of 12 and 8.
  EXPECT_EQ(total(0), 8 * (12 + 12 + 20 + 4) + 12 * 8 + 32 * 5 + 3 * 4 + 12 + 8);
  EXPECT_EQ(total(1), 8 * 16 + 8 * 8 + 8);
  EXPECT_EQ(total(2), 2 * 8 * 10 + 8);
  EXPECT_EQ(total(3), 6 * 2 * 8 * 7 + 8 * 6 + 8);
  // Norms and residuals move 10 bytes a channel and half.
  EXPECT_EQ(model.layer(0).passes.front().forward, 10 * 8);
  EXPECT_EQ(model.layer(2).passes.front().forward, 10 * 8);
  EXPECT_FALSE(model.layer(0).attention || model.layer(2).attention || model.layer(3).attention);
  EXPECT_FALSE(model.is_validated);
}

TEST(HybridLayers, OperationsOfAStateSpace) {
  // Dao and Gu 2024, section 6, chunks of 16: scores of 2 groups in 5 terms, 16 each; results of 4
  // heads in 16 terms, 3 each; states in and out, 3 x 5 each.
  const ForwardFlops flops = forward_flops(layers_of(half_layers()).layer(0), 32);
  EXPECT_EQ(flops.products, 2 * (8 * 48 + 12 * 8));
  EXPECT_EQ(flops.attention, 2 * (2 * 5 * 16 + 4 * 16 * 3 + 4 * 3 * 5 + 4 * 5 * 3));
  EXPECT_EQ(flops.attention_square, flops.attention);
}

TEST(HybridLayers, TensorParallelRanksShareHeadsOfStates) {
  // 4 ranks, 2 groups: each has one head, and a whole group of 10.
  const Layer layer = layers_of(half_layers()).layer(0);
  const RankShape shard{.sequence_length = 32, .tensor_parallel = 4};
  EXPECT_EQ(parameters_on_rank(layer, shard).of(Part::other),
            8 * ((48 - 20) / 4.0 + 10) + 3 * 8 + 32 * 5 / 4.0 + 3);
  const Work cut = work(layer, shard);
  double operations = 0.0;
  for (const ActivationWork& product : cut.activation_products) {
    operations += product.forward.count();
  }
  EXPECT_DOUBLE_EQ(operations, 32 * forward_flops(layer, 32).attention / 4);
  EXPECT_GT(kept_bytes(layer, {.sequence_length = 32}), kept_bytes(layer, shard));
}

/// 8 channels; 2 heads of keys of 3, 4 of values of 5; every second layer has attention of 2 heads
/// of 4 with a gate.
TransformerModel delta_layers() {
  TransformerModel model = half_layers();
  model.layer_pattern = "";
  model.state_space.reset();
  model.mixture_of_experts.reset();
  model.attention_gate = true;
  model.delta_net = DeltaNet{.key_heads = 2,
                             .value_heads = 4,
                             .key_head_size = 3,
                             .value_head_size = 5,
                             .chunk = 6,
                             .full_attention_interval = 2};
  return model;
}

TEST(HybridLayers, DeltaNetsAndGatedAttentionTakeTurns) {
  const Model model = layers_of(delta_layers());
  ASSERT_EQ(model.kinds.size(), 2U);
  EXPECT_EQ(model.layers, (std::vector<int>{0, 1, 0, 1}));
  const double mlp = 2 * 8 * 10;
  // Queries and keys of 6, values and a gate of 20; two rates a head; 20 x 8 out; filters of 4; two
  // numbers a head; norms of 5 and 2 x 8.
  EXPECT_EQ(parameters(model.layer(0)).total(),
            mlp + 8 * (6 + 6 + 20 + 20) + 8 * 8 + 20 * 8 + 32 * 4 + 2 * 4 + 5 + 16);
  // Queries twice, for their gates.
  EXPECT_EQ(parameters(model.layer(1)).total(), mlp + 8 * (8 + 8 + 4 + 4) + 8 * 8 + 16);
}

TEST(HybridLayers, OperationsOfADeltaNet) {
  // Of a head and position, chunks of 6: 2 c (3 k + 2 v) + 6 k v + c^2 / 3.
  const ForwardFlops flops = forward_flops(layers_of(delta_layers()).layer(0), 32);
  EXPECT_DOUBLE_EQ(flops.attention, 4 * (2 * 6 * (3 * 3 + 2 * 5) + 6 * 3 * 5 + 36 / 3));
  EXPECT_DOUBLE_EQ(flops.products, 2 * (8 * 52 + 8 * 8 + 20 * 8 + 2 * 8 * 10));
}

/// Delta nets whose gate, and a decay for each channel of a key, pass 2 channels; every half a
/// layer.
TransformerModel narrow_delta_layers() {
  TransformerModel model = delta_layers();
  model.layer_pattern = "D-D*";
  model.delta_net->gate_rank = 2;
  model.delta_net->full_attention_interval = 0;
  return model;
}

TEST(HybridLayers, DecaysOfChannelsPassANarrowLayer) {
  const Model model = layers_of(narrow_delta_layers());
  ASSERT_EQ(model.kinds.size(), 3U);
  EXPECT_EQ(model.layers, (std::vector<int>{0, 1, 0, 2}));
  const Layer layer = model.layer(0);
  // Queries and keys of 6, values of 20; 2 channels twice, from which 4 heads get 3 decays each
  // and 20 gates; a rate a head; 20 x 8 out; filters of 4; a decay of each head and 3 biases; norms
  // of 5 and 8.
  EXPECT_EQ(parameters(layer).total(), 8 * (6 + 6 + 20) + 8 * 2 * 2 + 2 * (12 + 20) + 8 * 4 +
                                           20 * 8 + 32 * 4 + 4 + 12 + 5 + 8);
  EXPECT_DOUBLE_EQ(forward_flops(layer, 32).products,
                   2 * (8 * 32 + 8 * 4 + 2 * 32 + 8 * 4 + 20 * 8));
  EXPECT_DOUBLE_EQ(forward_flops(layer, 32).attention,
                   forward_flops(layers_of(delta_layers()).layer(0), 32).attention);
  // Every rank has the narrow layer whole, and a quarter of what it gives.
  EXPECT_DOUBLE_EQ(parameters_on_rank(layer, {.tensor_parallel = 4}).of(Part::other),
                   8 * (2 * 3 + 20 / 4.0) + 8 * 4 + (2 * 32 + 8 * 4 + 20 * 8 + 32 * 4 + 16) / 4.0);
}

/// Filters of 3 between two gates of 8 channels.
TransformerModel filtered_layers() {
  TransformerModel model = half_layers();
  model.layer_pattern = "C-C*";
  model.state_space.reset();
  model.mixture_of_experts.reset();
  model.short_convolution = ShortConvolution{};
  return model;
}

TEST(HybridLayers, AShortConvolutionIsAFilterBetweenTwoGates) {
  TransformerModel fields = filtered_layers();
  const Layer layer = layers_of(fields).layer(0);
  EXPECT_EQ(parameters(layer).total(), 8 * 24 + 8 * 8 + 3 * 8 + 8);
  EXPECT_EQ(forward_flops(layer, 32).products, 2 * (8 * 24 + 8 * 8));
  EXPECT_EQ(forward_flops(layer, 32).attention, 0.0);
  EXPECT_EQ(parameters_on_rank(layer, {.tensor_parallel = 4}).of(Part::other),
            (8 * 24 + 8 * 8 + 3 * 8) / 4.0);
  // Three products' biases, of 24, 8 and the filter's 8.
  fields.short_convolution->bias = true;
  EXPECT_EQ(parameters(layers_of(fields).layer(0)).total() - parameters(layer).total(), 24 + 8 + 8);
}

/// 4 heads of 4 + 2 with values of 3 on 7 compressed channels.
TransformerModel latent_layers() {
  TransformerModel model = half_layers();
  model.layer_pattern = "";
  model.state_space.reset();
  model.mixture_of_experts.reset();
  model.attention_heads = model.kv_heads = 4;
  model.head_size = 6;
  model.latent_attention = LatentAttention{.query_rank = 9,
                                           .key_value_rank = 7,
                                           .head_size_without_rotary = 4,
                                           .rotary_head_size = 2,
                                           .value_head_size = 3};
  return model;
}

/// The same, where each position picks 2 with 2 heads of 5.
TransformerModel sparse_layers() {
  TransformerModel model = latent_layers();
  model.sparse_attention = SparseAttention{.positions = 2, .index_heads = 2, .index_head_size = 5};
  return model;
}

TEST(HybridLayers, AnIndexerPicksWhatIsAttendedTo) {
  const Layer dense = transformer_layer(latent_layers());
  const Layer sparse = transformer_layer(sparse_layers());
  // Queries of the narrow layer, a key, a weight a head; a layer norm of the key.
  EXPECT_EQ(parameters(sparse).total() - parameters(dense).total(), 9 * 10 + 8 * 5 + 8 * 2 + 10);
  const ForwardFlops flops = forward_flops(sparse, 8);
  // 4 heads on keys of 7 + 2 and values of 7, over 2 x (8 - 1) pairs of 8 rows; scores of all in
  // front.
  EXPECT_DOUBLE_EQ(flops.attention, 2 * 4 * (9 + 7) * 14 / 8.0 + 2 * 2 * 5 * 4);
  EXPECT_DOUBLE_EQ(flops.products - forward_flops(dense, 8).products, 2 * (9 * 10 + 8 * 5 + 8 * 2));
  // Shorter sequences are attended to as a whole.
  EXPECT_DOUBLE_EQ(forward_flops(sparse, 2).attention, 2 * 4 * (9 + 7) * 1 + 2 * 2 * 5 * 1);
}

TEST(HybridLayers, EveryRankHasTheWholeIndexer) {
  const Work cut =
      work(transformer_layer(sparse_layers()), {.sequence_length = 8, .tensor_parallel = 4});
  ASSERT_EQ(cut.activation_products.size(), 1U);
  EXPECT_DOUBLE_EQ(cut.activation_products[0].forward.count(), 8 * 2 * 2 * 5 * 4);
  EXPECT_DOUBLE_EQ(cut.activation_products[0].backward.count(), 2.5 * 2 * 2 * 5 * 14);
  EXPECT_EQ(cut.attention->shape.query_heads, 1);
  EXPECT_EQ(cut.attention->shape.head_size, 9);
  EXPECT_EQ(cut.attention->shape.value_size(), 7);
}

double moved_by(const Layer& layer, std::string_view name) {
  for (const MemoryPass& pass : layer.passes) {
    if (pass.name != name) continue;
    EXPECT_EQ(pass.backward, 2.0 * pass.forward) << name;
    return pass.forward;
  }
  ADD_FAILURE() << "no pass " << name;
  return 0.0;
}

double kept_of(const Layer& layer, std::string_view name) {
  for (const KeptTensor& tensor : layer.kept) {
    if (tensor.name == name) return tensor.elements;
  }
  ADD_FAILURE() << "nothing kept as " << name;
  return 0.0;
}

TEST(HybridLayers, AStateSpaceMovesItsInputsScoresAndStates) {
  const Layer layer = layers_of(half_layers()).layer(0);
  // In 2 bytes 12 channels three times and 2 x 5 of the states' sides four times; in fp32 scores of
  // 2 x 16 twice, and of every 16 positions states of 4 x 3 x 5 four times.
  EXPECT_DOUBLE_EQ(moved_by(layer, "scan"),
                   2 * (3 * 12 + 4 * 10) + 4 * 2 * 2 * 16 + 4 * 4 * 4 * 3 * 5 / 16.0);
  EXPECT_EQ(moved_by(layer, "convolution"), 4 * (12 + 20));
  EXPECT_EQ(moved_by(layer, "gated_norm"), 6 * 12);
  EXPECT_EQ(kept_of(layer, "state input"), 8);
  EXPECT_EQ(kept_of(layer, "gate, channels and steps"), 12 + 12 + 20 + 4);
  EXPECT_EQ(kept_of(layer, "scan output"), 12);
  EXPECT_EQ(kept_of(layer, "outward input"), 12);
}

TEST(HybridLayers, ADeltaNetMovesItsHeadsTrianglesAndStates) {
  const Layer layer = layers_of(delta_layers()).layer(0);
  // Of 4 heads in 2 bytes: 3 + 3 of keys and queries and as many more, values of 5 six times, keys
  // that read the state twice, a row of 6 of the triangle twice, and of every 6 positions a state
  // of 3 x 5 twice.
  EXPECT_DOUBLE_EQ(moved_by(layer, "delta_rule"),
                   2 * 4 * (6 * 3 + 6 * 5 + 2 * 3 + 2 * 6 + 2 * 3 * 5 / 6.0));
  EXPECT_EQ(moved_by(layer, "convolution"), 4 * (6 + 6 + 20));
  EXPECT_EQ(moved_by(layer, "gated_norm"), 6 * 20);
  EXPECT_EQ(kept_of(layer, "delta input"), 8);
  EXPECT_EQ(kept_of(layer, "channels, gate and rates"), (6 + 6 + 20) + 20 + 2 * 4);
  EXPECT_EQ(kept_of(layer, "queries, keys and values"), 6 + 6 + 20);
  EXPECT_EQ(kept_of(layer, "triangles"), 4 * 6);
  EXPECT_EQ(kept_of(layer, "delta output"), 20);
  EXPECT_EQ(kept_of(layer, "outward input"), 20);
}

TEST(HybridLayers, DecaysOfChannelsMoveTheirSumsAlongAChunk) {
  // Beside what the others move: of 4 heads 3 decays in 2 bytes, and their sums in fp32 written and
  // read four times.
  const Layer narrow = layers_of(narrow_delta_layers()).layer(0);
  const Layer plain = layers_of(delta_layers()).layer(0);
  EXPECT_DOUBLE_EQ(moved_by(narrow, "delta_rule") - moved_by(plain, "delta_rule"),
                   4 * 3 * (2 + 5 * 4));
  EXPECT_EQ(kept_of(narrow, "channels, gate and rates"), (6 + 6 + 20) + 20 + 4 + 4 * 3);
  EXPECT_EQ(kept_of(narrow, "narrow layers"), 2 * 2);
}

TEST(HybridLayers, AShortConvolutionMovesAndKeepsItsChannels) {
  // Each gate reads two and writes one, the filter reads and writes one, in 2 bytes.
  const Layer layer = layers_of(filtered_layers()).layer(0);
  EXPECT_EQ(moved_by(layer, "gate_in"), 6 * 8);
  EXPECT_EQ(moved_by(layer, "convolution"), 4 * 8);
  EXPECT_EQ(moved_by(layer, "gate_out"), 6 * 8);
  EXPECT_EQ(kept_of(layer, "convolution input"), 8);
  EXPECT_EQ(kept_of(layer, "gates and what they let in"), 3 * 8);
  EXPECT_EQ(kept_of(layer, "what is filtered"), 8);
  EXPECT_EQ(kept_of(layer, "filtered"), 8);
  EXPECT_EQ(kept_of(layer, "outward input"), 8);
}

TEST(HybridLayers, MixersOfStatesAreNotMergedWithWhatStandsBeside) {
  for (const auto& [layer, name] : {std::pair{layers_of(half_layers()).layer(0), "scan"},
                                    std::pair{layers_of(delta_layers()).layer(0), "delta_rule"}}) {
    const auto pass = std::ranges::find(layer.passes, name, &MemoryPass::name);
    ASSERT_NE(pass, layer.passes.end());
    EXPECT_FALSE(pass->merged);
  }
}

TEST(HybridLayers, AGateMovesAndKeepsAsMuchAsQueriesHave) {
  // 2 heads of 4: two read, one written, in 2 bytes; queries and keys are turned where they are
  // embedded by rotation.
  TransformerModel fields = delta_layers();
  const Layer layer = layers_of(fields).layer(1);
  EXPECT_EQ(moved_by(layer, "attention_gate"), 6 * 8);
  EXPECT_EQ(kept_of(layer, "attention gate"), 8);
  EXPECT_EQ(kept_of(layer, "gated output"), 8);
  fields.position_encoding = PositionEncoding::rotary;
  EXPECT_EQ(moved_by(layers_of(fields).layer(1), "rotary"), 4 * (8 + 4));
}

TEST(HybridLayers, AnIndexerKeepsItsQueriesAndWhatItPicked) {
  const Layer layer = transformer_layer(sparse_layers());
  EXPECT_EQ(kept_of(layer, "index queries, keys and weights"), 2 * 5 + 5 + 2);
  EXPECT_EQ(kept_of(layer, "picked positions"), 2);
  // Queries of 4 heads of 7 + 2 and one such key; values of 3 a head.
  EXPECT_EQ(kept_of(layer, "queries"), 4 * 9);
  EXPECT_EQ(kept_of(layer, "keys"), 9);
  EXPECT_EQ(kept_of(layer, "values of heads"), 4 * 3);
  EXPECT_EQ(kept_of(layer, "compressed queries"), 9);
  EXPECT_EQ(kept_of(layer, "compressed keys and values"), 7 + 2);
}

TEST(HybridLayers, AreNotValidatedByPublishedSteps) {
  EXPECT_TRUE(layers_of(latent_layers()).is_validated);
  EXPECT_FALSE(layers_of(half_layers()).is_validated);
  EXPECT_FALSE(layers_of(delta_layers()).is_validated);
  EXPECT_FALSE(layers_of(sparse_layers()).is_validated);
  EXPECT_FALSE(layers_of(filtered_layers()).is_validated);
}

TEST(HybridLayers, ProductsOfWholeRowsAreGathered) {
  // What goes into a mixer is gathered from sequence-parallel ranks, what comes out is not.
  const auto gathered = [](const Layer& layer) {
    std::string names;
    for (const Product& product : layer.products) {
      if (product.gathered) names += std::string(product.name) + " ";
    }
    return names;
  };
  EXPECT_EQ(gathered(layers_of(half_layers()).layer(0)), "state_inward ");
  EXPECT_EQ(gathered(layers_of(delta_layers()).layer(0)), "delta_inward delta_rates fc1 ");
  EXPECT_EQ(gathered(layers_of(narrow_delta_layers()).layer(0)),
            "delta_inward delta_narrow delta_rates ");
  EXPECT_EQ(gathered(layers_of(filtered_layers()).layer(0)), "convolution_inward ");
  EXPECT_EQ(gathered(transformer_layer(sparse_layers())),
            "index_query index_key index_weights fc1 ");
}

TEST(HybridLayers, TensorParallelRanksShareHeadsOfDeltaNets) {
  // 4 ranks, 2 heads of keys of 3: each has a whole one, and a quarter of the values and gates of
  // 20 and of the two rates of 4 heads; of filters, decays and the way out a quarter.
  const Layer layer = layers_of(delta_layers()).layer(0);
  const Parameters held = parameters_on_rank(layer, {.tensor_parallel = 4});
  EXPECT_DOUBLE_EQ(held.of(Part::other), 8 * (2 * 3 + 40 / 4.0) + 8 * 8 / 4.0 + 20 * 8 / 4.0 +
                                             32 * 4 / 4.0 + 2 * 4 / 4.0);
}

}  // namespace
}  // namespace headway
