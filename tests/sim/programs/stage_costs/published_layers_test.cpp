#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/stage_costs/stage_cost.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/shipped_profile.h"

namespace headway {
namespace {

/// Korthikanti et al. 2022 (arXiv:2205.05198), table 4: one layer of the 22B model, four sequences
/// of 2,048 tokens on eight A100. No fit has seen these times.
constexpr double kTolerance = 0.09;

class PublishedLayers : public testing::Test {
 protected:
  PublishedLayers() {
    strategy.tensor_parallel = 8;
    strategy.micro_batch = 4;
    strategy.sequence_length = 2048;
    strategy.fused_attention = false;
    strategy.precision = Precision::fp16;
    strategy.kernel_family = "megatron-2022";
    strategy.overlap_tensor_parallel_backward = true;
  }

  void expect(double forward_ms, double backward_ms) const {
    const StageCost cost =
        stage_cost(layers_of(model), strategy, *shipped("a100_sxm_80gb"), *cluster);
    const LayerCost& layer = cost.layer();
    EXPECT_NEAR(layer.forward.total() / 1_ms, forward_ms, kTolerance * forward_ms);
    EXPECT_NEAR((layer.recompute.total() + layer.backward.total()) / 1_ms, backward_ms,
                kTolerance * backward_ms);
  }

  const TransformerModel model = {.layers = 48,
                                  .hidden = 6144,
                                  .attention_heads = 64,
                                  .kv_heads = 64,
                                  .head_size = 96,
                                  .ffn_hidden = 24576,
                                  .vocabulary = 51200};
  const std::shared_ptr<const Cluster> cluster = cluster_of(
      ClusterText{.nodes = 1, .accelerators = 8, .nics = 8, .scale_up_bandwidth = "300 GB/s"}
          .text());
  Strategy strategy;
};

TEST_F(PublishedLayers, Baseline) { expect(7.7, 11.9); }

TEST_F(PublishedLayers, SequenceParallel) {
  strategy.sequence_parallel = true;
  expect(7.2, 11.8);
}

TEST_F(PublishedLayers, FullRecomputation) {
  strategy.recompute = Recompute::full;
  expect(7.7, 19.5);
}

TEST_F(PublishedLayers, SelectiveRecomputation) {
  strategy.recompute = Recompute::selective;
  expect(7.7, 13.2);
}

TEST_F(PublishedLayers, SelectiveRecomputationAndSequenceParallel) {
  strategy.recompute = Recompute::selective;
  strategy.sequence_parallel = true;
  expect(7.2, 13.1);
}

}  // namespace
}  // namespace headway
