#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

/// A model small enough to count on paper, in the manner of Llama.
TransformerModel tiny_llama() {
  return {.name = "tiny",
          .layers = 2,
          .hidden = 4,
          .attention_heads = 2,
          .kv_heads = 1,
          .head_size = 2,
          .ffn_hidden = 8,
          .gated_mlp = true,
          .vocabulary = 10,
          .tied_embeddings = false,
          .normalization = Normalization::rms_norm,
          .position_encoding = PositionEncoding::rotary,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false,
          .sequence_length = 3};
}

/// The same size in the manner of GPT-2.
TransformerModel tiny_gpt() {
  TransformerModel model = tiny_llama();
  model.gated_mlp = false;
  model.tied_embeddings = true;
  model.normalization = Normalization::layer_norm;
  model.position_encoding = PositionEncoding::learned;
  model.qkv_bias = model.projection_bias = model.mlp_bias = true;
  return model;
}

TransformerModel gpt3() {
  return {.layers = 96,
          .hidden = 12288,
          .attention_heads = 96,
          .kv_heads = 96,
          .head_size = 128,
          .ffn_hidden = 49152,
          .vocabulary = 51200,
          .tied_embeddings = true,
          .sequence_length = 2048};
}

Parameters counts_of(const TransformerModel& model) { return parameters(layers_of(model)); }

TEST(ParameterCounts, LlamaHasThreeMatricesInTheMlpAndNoBiases) {
  const Parameters counts = counts_of(tiny_llama());
  EXPECT_EQ(counts.of(Part::embedding), 40);  // 10 x 4
  EXPECT_EQ(counts.of(Part::positions), 0);
  EXPECT_EQ(counts.of(Part::attention), 96);      // 2 x (4 x (2 + 2) x 2 + 4 x 4)
  EXPECT_EQ(counts.of(Part::mlp), 192);           // 2 x 3 x 4 x 8
  EXPECT_EQ(counts.of(Part::normalization), 20);  // (2 x 2 + 1) x 4
  EXPECT_EQ(counts.of(Part::head), 40);
  EXPECT_EQ(counts.total(), 388);
}

TEST(ParameterCounts, GptHasBiasesPositionsAndATiedHead) {
  const Parameters counts = counts_of(tiny_gpt());
  EXPECT_EQ(counts.of(Part::embedding), 40);
  EXPECT_EQ(counts.of(Part::positions), 12);      // 3 x 4
  EXPECT_EQ(counts.of(Part::attention), 120);     // 2 x (48 weights + 8 + 4 biases)
  EXPECT_EQ(counts.of(Part::mlp), 152);           // 2 x (2 x 4 x 8 + 8 + 4)
  EXPECT_EQ(counts.of(Part::normalization), 40);  // (2 x 2 + 1) x (4 + 4)
  EXPECT_EQ(counts.of(Part::head), 0);
  EXPECT_EQ(counts.total(), 364);
}

// Four matrices, the gate of a Llama's MLP with its first, and two gains; of a GPT a bias each.
TEST(ParameterCounts, MatricesBiasesAndNormsAreTensors) {
  EXPECT_EQ(parameter_tensors(layers_of(tiny_llama()).layer(0)), 4 + 2);
  EXPECT_EQ(parameter_tensors(layers_of(tiny_gpt()).layer(0)), 4 * 2 + 2 * 2);
}

TEST(ParameterCounts, ALayerNormMayLackItsBias) {
  TransformerModel model = tiny_gpt();
  model.normalization_bias = false;
  EXPECT_EQ(counts_of(model).of(Part::normalization), 20);
}

TEST(ParameterCounts, GptMeetsTheClosedFormOfNarayanan) {
  // Narayanan et al. 2021, equation 2: 12 l h^2 (1 + 13/(12h) + (V+s)/(12 l h)), which leaves out
  // the two vectors of the final norm. 12 l h^2 = 173,946,175,488; 13 l h = 15,335,424;
  // (V+s) h = 654,311,424.
  const std::int64_t closed_form = 173'946'175'488 + 15'335'424 + 654'311'424;
  EXPECT_EQ(parameter_count(layers_of(gpt3())), closed_form + 2 * 12288);
}

TEST(ForwardFlops, CountsEachProductOnce) {
  // A layer: QKV 2x4x8 = 64, projection 2x4x4 = 32, attention 4x4x3 = 48, MLP 2x3x4x8 = 192; two
  // layers and the head 2x4x10 = 80.
  EXPECT_EQ(forward_flops(layers_of(tiny_llama()), 3).whole_square().count(),
            2 * (64 + 32 + 48 + 192) + 80);
}

TEST(ForwardFlops, CausalAttentionIsHalfOfIt) {
  EXPECT_EQ(forward_flops(layers_of(tiny_llama()), 3).total().count(),
            2 * (64 + 32 + 24 + 192) + 80);
}

TEST(ForwardFlops, PlainMlpHasTwoMatrices) {
  EXPECT_EQ(forward_flops(layers_of(tiny_gpt()), 3).whole_square().count(),
            2 * (64 + 32 + 48 + 128) + 80);
}

TEST(ForwardFlops, GptMeetsTheClosedFormOfKorthikanti) {
  // Korthikanti et al. 2022, equation 7: an iteration takes 72 B s l h^2 (1 + s/6h + v/12lh); the
  // forward pass is a third of it, and it works on B s tokens.
  const double h = 12288;
  const double closed_form =
      24.0 * 96.0 * h * h * (1.0 + 2048.0 / (6.0 * h) + 51200.0 / (12.0 * 96.0 * h));
  const double flops = forward_flops(layers_of(gpt3()), 2048).whole_square().count();
  EXPECT_NEAR(flops / closed_form, 1.0, 1e-14);
}

TEST(ForwardFlops, FollowTheSequenceOfTheRunNotOfTheModel) {
  const double twice = forward_flops(layers_of(gpt3()), 4096).whole_square().count();
  const double once = forward_flops(layers_of(gpt3()), 2048).whole_square().count();
  EXPECT_EQ(twice - once, 96.0 * 4.0 * 12288.0 * 2048.0);
}

}  // namespace
}  // namespace headway
