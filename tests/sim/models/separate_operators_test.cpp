// What operators that are not merged move, added up by hand: bytes of tensors that are read and
// written, of 8 channels, 4 tokens.
#include <gtest/gtest.h>

#include <string_view>

#include "sim/layers/work.h"
#include "sim/models/transformer/diffusion_transformer.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/whisper.h"

namespace headway {
namespace {

constexpr double kTokens = 4.0;
constexpr RankShape kSeparate{.sequence_length = kTokens, .fused_operators = false};
constexpr RankShape kAutocast{
    .sequence_length = kTokens, .fused_operators = false, .wide_residuals = true};

void expect_moved(const Layer& layer, const RankShape& shape, std::string_view name, double forward,
                  double backward) {
  for (const PassWork& pass : work(layer, shape).passes) {
    if (pass.name != name) continue;
    EXPECT_EQ(pass.forward, Bytes(kTokens * forward)) << name;
    EXPECT_EQ(pass.backward, Bytes(kTokens * backward)) << name;
    EXPECT_FALSE(pass.merged) << name;
    return;
  }
  ADD_FAILURE() << "no pass " << name;
}

/// 2 heads of 4, one of keys and values; an MLP of 10.
TransformerModel gated() {
  return {.hidden = 8,
          .attention_heads = 2,
          .kv_heads = 1,
          .head_size = 4,
          .ffn_hidden = 10,
          .gated_mlp = true,
          .normalization = Normalization::rms_norm,
          .normalization_bias = false,
          .position_encoding = PositionEncoding::rotary,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false};
}

TransformerModel plain() {
  return {.hidden = 8, .attention_heads = 2, .kv_heads = 1, .head_size = 4, .ffn_hidden = 10};
}

TEST(SeparateOperators, StandInThePlaceOfMergedOnes) {
  const Layer layer = transformer_layer(gated());
  for (const PassWork& pass : work(layer, kSeparate).passes) EXPECT_FALSE(pass.merged) << pass.name;
  for (const PassWork& pass : work(layer, {}).passes) EXPECT_TRUE(pass.merged) << pass.name;
  EXPECT_EQ(work(layer, {}).passes.size(), 3U);
  EXPECT_EQ(work(layer, kSeparate).passes.size(), 4U);
}

TEST(SeparateOperators, OfAnRmsNormAreInSinglePrecision) {
  // Two norms. In fp32 a square of one tensor (8), a mean (4), products with its root and with the
  // scale (8 each). Backward the last product is one for what it took (8), one for the scale and
  // its sum (12 + 4); the one before it the same (24); the mean is spread (4); the square a power,
  // a factor and a product (8 + 8 + 12); both gradients are summed (12).
  const Layer layer = transformer_layer(gated());
  const double spread = 24 + 4 + 28 + 12;
  expect_moved(layer, kAutocast, "norms, each operator", 8 * 2 * (8 + 4 + 8 + 8),
               8 * 2 * (24 + spread));
  // A stream in 16 bits is cast there and back (6 each), and the scale multiplies 16 bits.
  expect_moved(layer, kSeparate, "norms, each operator", 8 * 2 * (6 + 20 + 6 + 4),
               8 * 2 * (4 + 6 + 2 + 6 + spread + 6));
}

TEST(SeparateOperators, OfALayerNormAreItsKernels) {
  // Read and written; backward what came in and the gradient are read twice, and one is written.
  const Layer layer = transformer_layer(plain());
  expect_moved(layer, kSeparate, "norms, each operator", 8 * 2 * 2 * 2, 8 * 2 * 5 * 2);
  expect_moved(layer, kAutocast, "norms, each operator", 8 * 2 * 2 * 4, 8 * 2 * 5 * 4);
}

TEST(SeparateOperators, OfTheStreamAreSumsAndCasts) {
  const Layer layer = transformer_layer(gated());
  // Two sums of two tensors, forward and back; five products read it, whose gradients two and one
  // sums add up.
  expect_moved(layer, kSeparate, "sums and casts, each operator", 8 * 2 * 6, 8 * (2 * 6 + 3 * 6));
  // Each sum takes 2 bytes and 4 and writes 4, and its gradient of 4 is summed and cast; five casts
  // and as many back.
  expect_moved(layer, kAutocast, "sums and casts, each operator", 8 * (2 * 10 + 5 * 6),
               8 * (2 * (12 + 6) + 5 * 6 + 3 * 12));
}

TEST(SeparateOperators, OfDropoutReadAndWriteBesideAMask) {
  const Layer layer = transformer_layer(plain());
  // Four products read the stream; twice dropout of 2 + 2 + 1 bytes, both ways.
  expect_moved(layer, kSeparate, "sums and casts, each operator", 8 * (2 * 6 + 2 * 5),
               8 * (2 * 6 + 2 * 6 + 2 * 5));
  TransformerModel without = plain();
  without.dropout = false;
  expect_moved(transformer_layer(without), kSeparate, "sums and casts, each operator", 8 * 2 * 6,
               8 * (2 * 6 + 2 * 6));
}

TEST(SeparateOperators, OfRotaryEmbeddingsTurnQueriesAndKeys) {
  // Of 3 heads of 4: times the cosines (4), a half with its sign and both put together (2 + 4),
  // times the sines (4), the sum (6). Back both products (4 each), the sign (2), two padded halves
  // (2 x 4) and two sums (6 each).
  const Layer layer = transformer_layer(gated());
  expect_moved(layer, kSeparate, "rotary, each operator", 12 * (4 + 2 + 4 + 4 + 6),
               12 * (2 * 4 + 2 + 8 + 6 + 6));
  // Tables in fp32 make both products so (6 each) and the sum (12), which attention casts (6). Back
  // that cast (6), and of each product a product in fp32 and a cast (8 + 6).
  expect_moved(layer, kAutocast, "rotary, each operator", 12 * (6 + 2 + 4 + 6 + 12 + 6),
               12 * (6 + 2 * (8 + 6) + 2 + 8 + 6 + 6));
  RankShape unfused = kSeparate;
  unfused.fused_attention = false;  // carries its own
  EXPECT_EQ(work(layer, unfused).passes.size(), 3U);
}

TEST(SeparateOperators, OfActivationsAreTheFunctionAndItsProduct) {
  const Layer gate = transformer_layer(gated());
  // The function (4), the product (6); back 6, and two gradients of the product (12).
  expect_moved(gate, kSeparate, "activation, each operator", 10 * (4 + 6), 10 * (6 + 12));
  expect_moved(gate, kAutocast, "activation, each operator", 10 * (4 + 6), 10 * (6 + 12));
  expect_moved(transformer_layer(plain()), kSeparate, "activation, each operator", 10 * 4, 10 * 6);
}

TEST(SeparateOperators, SumUpTheGradientsOfBiases) {
  // Queries, keys and values of 16 channels and the MLP's 10 are shared out, two ways out of 8 are
  // not.
  const Layer layer = transformer_layer(plain());
  const RankShape half{.sequence_length = kTokens, .tensor_parallel = 2, .fused_operators = false};
  double moved = 0.0;
  for (const PassWork& pass : work(layer, half).passes) {
    if (pass.name != "gradients of biases, each operator") continue;
    EXPECT_EQ(pass.forward, Bytes(0.0));
    moved += pass.backward.count();
  }
  EXPECT_EQ(moved, kTokens * 2 * ((16 + 10) / 2.0 + 8 + 8));
}

TEST(SeparateOperators, PutWhispersHeadsInOrder) {
  // 8 frames are 4 positions, for which 2 words are written: queries are scaled and copied, keys
  // and values copied, 2 bytes read and 2 written each, both ways. Words ask all positions.
  const Model model = layers_of(WhisperModel{.layers = 1,
                                             .decoder_layers = 1,
                                             .hidden = 8,
                                             .attention_heads = 2,
                                             .ffn_hidden = 10,
                                             .vocabulary = 50,
                                             .mel_bins = 4,
                                             .frames = 8,
                                             .target_positions = 2,
                                             .target_length = 2});
  const char* const name = "orders of heads, each operator";
  expect_moved(model.layer(0), kSeparate, name, 8 * 4 * 4, 8 * 4 * 4);
  // Half as many words as positions: of themselves all four, crossing two and two of each position.
  expect_moved(model.layer(1), kSeparate, name, 8 * 4 * 4 / 2.0, 8 * 4 * 4 / 2.0);
  expect_moved(model.layer(2), kSeparate, name, 8 * (2 + 2 * 2) * 4 / 2.0,
               8 * (2 + 2 * 2) * 4 / 2.0);
  EXPECT_DOUBLE_EQ(model.layer(0).separate_issue, 1.1 / 1.3 * 72 / 68);
}

TEST(SeparateOperators, ModulateBehindANormAndInFrontOfASum) {
  const DiffusionTransformer fields{.layers = 1,
                                    .hidden = 8,
                                    .attention_heads = 2,
                                    .ffn_hidden = 10,
                                    .image_size = 32,
                                    .patch_size = 2};
  const Model model = layers_of(fields);
  ASSERT_EQ(fields.positions(), 4);
  // Twice: a product and a sum as wide as the stream, a gate of 16 bits (4). Back a sum for the
  // bias, a product, another and its sum for the gain (1 + 2 + 3 + 1 tensors), and of the gate two
  // products and a sum (4 + 6 + 2).
  expect_moved(model.layer(0), kSeparate, "modulation, each operator", 8 * 2 * (4 * 2 + 4),
               8 * 2 * (7 * 2 + 12));
  expect_moved(model.layer(0), kAutocast, "modulation, each operator", 8 * 2 * (4 * 4 + 4),
               8 * 2 * (7 * 4 + 12));
}

TEST(SeparateOperators, MergedOnesOfAWideStreamMoveTwiceAsMuch) {
  const Layer layer = transformer_layer(gated());
  const auto stream = [&](bool is_wide) {
    return work(layer, {.sequence_length = kTokens, .wide_residuals = is_wide}).passes[0].forward;
  };
  EXPECT_EQ(stream(false), Bytes(kTokens * 2 * 10 * 8));
  EXPECT_EQ(stream(true), Bytes(kTokens * 2 * 2 * 10 * 8));
}

}  // namespace
}  // namespace headway
