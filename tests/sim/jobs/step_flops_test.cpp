#include "sim/jobs/step_flops.h"

#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

/// 2 layers of 10 channels, one head of 10, MLP of 40, vocabulary of 100, sequences of 8. A token
/// forward: 2 x (2 x 10 x 30 + 2 x 10 x 10 + 2 x 2 x 10 x 40) = 4,800 operations in products,
/// 2 x 4 x 10 x 8 = 640 in attention over the whole square, 320 over half, 2 x 10 x 100 = 2,000 in
/// the head.
class StepFlopsTest : public ::testing::Test {
 protected:
  StepFlopsTest() {
    model = {.layers = 2, .hidden = 10, .head_size = 10, .ffn_hidden = 40, .vocabulary = 100};
    strategy.global_batch = 6;
    strategy.sequence_length = 8;
    strategy.data_parallel = 3;
    strategy.pipeline_parallel = 2;
  }
  TransformerModel model;
  Strategy strategy;
};

constexpr double kTokens = 48.0;
constexpr double kCausal = 4800.0 + 320.0 + 2000.0;
constexpr double kWhole = 4800.0 + 640.0 + 2000.0;

TEST_F(StepFlopsTest, AStepIsThreeForwardPasses) {
  const StepFlops flops = step_flops(layers_of(model), strategy);
  EXPECT_DOUBLE_EQ(flops.model.count(), 3.0 * kTokens * kCausal);
  EXPECT_DOUBLE_EQ(flops.model_whole_square.count(), 3.0 * kTokens * kWhole);
  EXPECT_DOUBLE_EQ(flops.hardware.count(), 3.0 * kTokens * kCausal);
}

TEST_F(StepFlopsTest, FullRecomputationRunsTheLayersAFourthTimeButNotTheHead) {
  strategy.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).hardware.count(),
                   kTokens * (3.0 * kCausal + kCausal - 2000.0));
}

TEST_F(StepFlopsTest, LayersThatPredictAheadRunAgainToo) {
  // Two of them, of half of 4,800 + 320 operations each, besides the two.
  model.multi_token_prediction_layers = 2;
  strategy.recompute = Recompute::full;
  const StepFlops flops = step_flops(layers_of(model), strategy);
  EXPECT_DOUBLE_EQ((flops.hardware - flops.model).count(), kTokens * (2 + 2) * 2560.0);
}

TEST_F(StepFlopsTest, NoMoreLayersRunAgainThanAChunkHas) {
  strategy.recompute = Recompute::full;
  const StepFlops all = step_flops(layers_of(model), strategy);
  strategy.recompute_layers = 2;  // of one on each stage
  EXPECT_EQ(step_flops(layers_of(model), strategy).hardware, all.hardware);
}

TEST_F(StepFlopsTest, SelectiveRecomputationRunsTheCoreOfAttentionAgain) {
  strategy.recompute = Recompute::selective;
  for (const bool is_fused : {true, false}) {
    strategy.fused_attention = is_fused;
    EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).hardware.count(),
                     kTokens * (3.0 * kCausal + 320.0));
  }
}

TEST_F(StepFlopsTest, SomeLayersOrPartsOfThemRunAgain) {
  strategy.recompute = Recompute::full;
  strategy.pipeline_parallel = 1;
  strategy.recompute_layers = 1;  // of two
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).hardware.count(),
                   kTokens * (3.0 * kCausal + (kCausal - 2000.0) / 2.0));
  strategy.recompute_layers = 0;
  strategy.recompute = Recompute::modules;
  strategy.recompute_modules = {RecomputePart::mlp};  // 2 x 2 x 2 x 10 x 40
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).hardware.count(),
                   kTokens * (3.0 * kCausal + 3200.0));
  strategy.recompute = Recompute::alternate;
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).hardware.count(),
                   kTokens * (3.0 * kCausal + 2400.0));
}

TEST_F(StepFlopsTest, ExpertsRunAgainInTheLayersThatHaveThem) {
  // A router of 2 x 10 x 4; two of the experts, 2 x 2 x 10 x 5 each; the shared one, 2 x 2 x 10
  // x 3.
  model.mixture_of_experts = MixtureOfExperts{
      .experts = 4, .experts_per_token = 2, .expert_hidden = 5, .shared_expert_hidden = 3};
  strategy.recompute = Recompute::modules;
  const auto again = [&](RecomputePart module) {
    strategy.recompute_modules = {module};
    const StepFlops flops = step_flops(layers_of(model), strategy);
    return (flops.hardware - flops.model).count();
  };
  EXPECT_DOUBLE_EQ(again(RecomputePart::moe), kTokens * 2.0 * (80.0 + 400.0 + 120.0));
  EXPECT_DOUBLE_EQ(again(RecomputePart::shared_experts), kTokens * 2.0 * 120.0);
  EXPECT_DOUBLE_EQ(again(RecomputePart::mlp), 0.0);  // of dense layers
}

TEST_F(StepFlopsTest, FrozenProductsRunTwiceAndAttentionThreeTimes) {
  strategy.task = Task::lora;
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).model.count(),
                   kTokens * (2.0 * (4800.0 + 2000.0) + 3.0 * 320.0));
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).model_whole_square.count(),
                   kTokens * (2.0 * (4800.0 + 2000.0) + 3.0 * 640.0));
}

TEST_F(StepFlopsTest, PackedDocumentsAttendToThemselvesOnly) {
  strategy.packed_length = 2;
  EXPECT_DOUBLE_EQ(step_flops(layers_of(model), strategy).model.count(),
                   3.0 * kTokens * (4800.0 + 80.0 + 2000.0));
}

}  // namespace
}  // namespace headway
