
#include <gtest/gtest.h>

#include "sim/jobs/memory.h"
#include "sim/layers/kept_tensors.h"
#include "tests/sim/jobs/sample_models.h"

namespace headway {
namespace {

using testing::gpt;
using testing::llama;

// GPT-3 175B at micro-batch 1: s b h = 2048 x 12288, 5 a s / h = 5 x 96 x 2048 / 12288 = 80.
constexpr double kSbh = 2048.0 * 12288.0;
const Model kGpt = gpt(96, 12'288, 96);

Strategy unfused(int tensor_parallel, bool sequence_parallel, Recompute recompute) {
  Strategy strategy;
  strategy.tensor_parallel = tensor_parallel;
  strategy.sequence_length = 2048;
  strategy.sequence_parallel = sequence_parallel;
  strategy.fused_attention = false;
  strategy.recompute = recompute;
  return strategy;
}

double per_sbh(const Strategy& strategy) {
  return testing::layer_activations(kGpt, strategy).count() / kSbh;
}

TEST(LayerActivationBytes, AreKorthikantisEquationOneOnOneRank) {
  EXPECT_DOUBLE_EQ(per_sbh(unfused(1, false, Recompute::none)), 34.0 + 80.0);
}

TEST(LayerActivationBytes, AreEquationTwoWithTensorParallel) {
  EXPECT_DOUBLE_EQ(per_sbh(unfused(8, false, Recompute::none)), 10.0 + 24.0 / 8.0 + 80.0 / 8.0);
}

TEST(LayerActivationBytes, AreEquationFourWithSequenceParallel) {
  EXPECT_DOUBLE_EQ(per_sbh(unfused(8, true, Recompute::none)), (34.0 + 80.0) / 8.0);
}

TEST(LayerActivationBytes, LoseTheAttentionCoreToSelectiveRecomputation) {
  EXPECT_DOUBLE_EQ(per_sbh(unfused(8, false, Recompute::selective)), 10.0 + 24.0 / 8.0);
  EXPECT_DOUBLE_EQ(per_sbh(unfused(8, true, Recompute::selective)), 34.0 / 8.0);  // equation 6
}

TEST(LayerActivationBytes, AreTheLayersInputWithFullRecomputation) {
  // The FC2 input, 8/t, is what the activation function gives again.
  EXPECT_DOUBLE_EQ(per_sbh(unfused(1, false, Recompute::activation)), 34.0 - 8.0 + 80.0);
  EXPECT_DOUBLE_EQ(per_sbh(unfused(8, false, Recompute::full)), 2.0);
  EXPECT_DOUBLE_EQ(per_sbh(unfused(8, true, Recompute::full)), 2.0 / 8.0);
}

// Of 34 + 80 two masks of a byte each, and of 5 bytes a score the mask and what it leaves.
TEST(LayerActivationBytes, WithoutDropoutHaveNoMasks) {
  const Model model = layers_of({.layers = 96,
                                 .hidden = 12'288,
                                 .attention_heads = 96,
                                 .kv_heads = 96,
                                 .head_size = 128,
                                 .ffn_hidden = 49'152,
                                 .vocabulary = 51'200,
                                 .dropout = false,
                                 .sequence_length = 2048});
  EXPECT_DOUBLE_EQ(
      testing::layer_activations(model, unfused(1, false, Recompute::none)).count() / kSbh,
      32.0 + 80.0 * 2.0 / 5.0);
}

TEST(LayerActivationBytes, GrowWithTheMicroBatchAndShrinkWithContextParallel) {
  Strategy strategy = unfused(8, true, Recompute::none);
  const Bytes one = testing::layer_activations(kGpt, strategy);
  strategy.micro_batch = 4;
  EXPECT_DOUBLE_EQ(testing::layer_activations(kGpt, strategy) / one, 4.0);
  strategy.context_parallel = 2;
  EXPECT_DOUBLE_EQ(testing::layer_activations(kGpt, strategy) / one, 2.0);
}

TEST(LayerActivationBytes, FusedAttentionKeepsARowSumInsteadOfTheScores) {
  Strategy strategy = unfused(8, true, Recompute::none);
  strategy.fused_attention = true;
  // 4 bytes x 96 / 8 heads x 2048 tokens
  EXPECT_DOUBLE_EQ(testing::layer_activations(kGpt, strategy).count(),
                   34.0 / 8.0 * kSbh + 4.0 * 12.0 * 2048.0);
}

TEST(LayerActivationBytes, AreTwiceAsLargeInFp32ApartFromMasks) {
  Strategy strategy = unfused(1, false, Recompute::selective);
  strategy.precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(per_sbh(strategy), 2.0 * 32.0 + 2.0);
}

// Llama 3 8B, t = 1: per token 2 bytes each of four residual tensors (4 x 4096), queries and the
// projection's input (2 x 4096), keys and values (2 x 1024), gate, up and their product
// (3 x 14336), and 4 bytes for each of 32 heads; no dropout.
TEST(LayerActivationBytes, OfALlamaLayer) {
  const Model model = llama(32, 4096, 32, 8, 14'336);
  Strategy strategy{.sequence_length = 8192};
  const double elements = 4.0 * 4096 + 2.0 * 4096 + 2.0 * 1024 + 3.0 * 14'336;
  EXPECT_DOUBLE_EQ(testing::layer_activations(model, strategy).count(),
                   8192.0 * (2.0 * elements + 4.0 * 32));

  strategy.fused_activation = false;  // the activated gate too
  EXPECT_DOUBLE_EQ(testing::layer_activations(model, strategy).count(),
                   8192.0 * (2.0 * (elements + 14'336) + 4.0 * 32));

  strategy.fused_normalization = false;  // two norms: 8 bytes instead of 2
  EXPECT_DOUBLE_EQ(testing::layer_activations(model, strategy).count(),
                   8192.0 * (2.0 * (elements + 14'336) + 2.0 * 6.0 * 4096 + 4.0 * 32));
}

TEST(LayerActivationBytes, OfAWrittenOutGeluAreFourTensorsForOne) {
  const auto bytes = [](ActivationFunction activation, const Strategy& strategy) {
    TransformerModel model{.hidden = 12'288,
                           .attention_heads = 96,
                           .kv_heads = 96,
                           .head_size = 128,
                           .ffn_hidden = 4 * 12'288};
    model.activation = activation;
    return testing::layer_activations(layers_of(model), strategy).count() / kSbh;
  };
  using enum ActivationFunction;
  // A layer of 34 bytes a position and channel (Korthikanti et al. 2022, equation 1, without
  // scores), of whose inner 4 h channels the activation keeps 2 bytes each.
  Strategy strategy = unfused(1, false, Recompute::selective);
  EXPECT_DOUBLE_EQ(bytes(gelu_new, strategy), 34.0);
  EXPECT_DOUBLE_EQ(bytes(relu, strategy), 34.0 - 4.0 * 2.0);
  strategy.fused_activation = false;
  EXPECT_DOUBLE_EQ(bytes(gelu, strategy), 34.0);
  EXPECT_DOUBLE_EQ(bytes(gelu_new, strategy), 34.0 + 4.0 * (4.0 * 2.0 - 2.0));
  // Three of them in fp32 under autocast.
  strategy.memory.wide_residuals = true;
  EXPECT_DOUBLE_EQ(bytes(gelu_new, strategy) - bytes(gelu, strategy),
                   4.0 * (3.0 * 4.0 + 2.0 - 2.0));
}

TEST(LayerActivationBytes, KeepAWholeKeyValueHeadOnEachRank) {
  const Model model = llama(32, 4096, 32, 2, 14'336);
  const Strategy strategy{.tensor_parallel = 8, .sequence_length = 1};
  Bytes keys;
  const Layer& layer = model.layer(0);
  for (const KeptTensor& tensor : layer.kept) {
    if (tensor.name == "keys") keys = kept_bytes(tensor, layer, rank_shape_of(strategy));
  }
  EXPECT_EQ(keys, 2.0 * Bytes(128.0));
}

TEST(RecomputedBytes, AreWhatTheModesLeaveOut) {
  const auto layer = [&](Recompute recompute) {
    return testing::layer_activations(kGpt, unfused(8, true, recompute));
  };
  const auto made_again = [&](Recompute recompute) {
    return testing::recomputed_activations(kGpt, unfused(8, true, recompute));
  };
  EXPECT_EQ(made_again(Recompute::none), Bytes(0.0));
  EXPECT_DOUBLE_EQ(made_again(Recompute::selective) / layer(Recompute::none), 80.0 / 114.0);
  EXPECT_DOUBLE_EQ(made_again(Recompute::full).count(),
                   (layer(Recompute::none) - layer(Recompute::full)).count());
}

Strategy with_modules(std::vector<RecomputePart> modules) {
  Strategy strategy = unfused(1, false, Recompute::modules);
  strategy.recompute_modules = std::move(modules);
  return strategy;
}

TEST(LayerActivations, ModulesDropWhatTheyMakeAgain) {
  // Of 34 + 80: scores 80; the outputs of two norms 2 each; inputs of activation and FC2 8 each.
  EXPECT_DOUBLE_EQ(per_sbh(with_modules({RecomputePart::core_attn})), 34.0);
  EXPECT_DOUBLE_EQ(per_sbh(with_modules({RecomputePart::layernorm})), 30.0 + 80.0);
  EXPECT_DOUBLE_EQ(per_sbh(with_modules({RecomputePart::mlp})), 18.0 + 80.0);
  EXPECT_DOUBLE_EQ(per_sbh(with_modules({RecomputePart::mlp, RecomputePart::layernorm})),
                   14.0 + 80.0);
}

TEST(LayerActivations, EverySecondProductKeepsAttentionAndHalfOfTheProducts) {
  // Dropped of 34 + 80: QKV input 2, keys 2, MLP norm input 2, half of the activation's input 4,
  // FC2 input 8.
  EXPECT_DOUBLE_EQ(per_sbh(unfused(1, false, Recompute::alternate)), 16.0 + 80.0);
}

}  // namespace
}  // namespace headway
