#include "sim/predict/physical_bound.h"

#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/flops.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

TransformerModel small_model() {
  TransformerModel model;
  model.layers = 4;
  model.hidden = 1024;
  model.attention_heads = 8;
  model.kv_heads = 8;
  model.head_size = 128;
  model.ffn_hidden = 4096;
  model.vocabulary = 32768;
  return model;
}

Strategy two_stages() {
  Strategy strategy;
  strategy.pipeline_parallel = 2;
  strategy.global_batch = 8;
  strategy.sequence_length = 1024;
  return strategy;
}

/// So many times as slow as 1 PFLOP/s and 1 TB/s.
Profile round_profile(double slower = 1.0) {
  Profile profile;
  profile.device.peak_flops[Precision::bf16] = {1e15 / slower, 0.0, "round"};
  profile.device.memory_bandwidth = {1e12 / slower, 0.0, "round"};
  return profile;
}

TEST(PhysicalBound, TheStageWithTheHeadIsTheBusiest) {
  // Forward FLOPs of a token: the head 2 h V = 67,108,864; all else of forward_flops_per_token over
  // four layers, two of them and the head on the last stage. Three passes over 8 * 1024 tokens.
  const TransformerModel model = small_model();
  const Strategy strategy = two_stages();
  const double head = 2.0 * 1024 * 32768;
  const double layers = forward_flops(layers_of(model), 1024).total().count() - head;
  const Profile profile = round_profile();
  const PhysicalBound bound =
      physical_bound(layers_of(model), strategy, profile, Workload(), Timeline(), Topology());
  EXPECT_NEAR(bound.compute.count(), 3.0 * 8 * 1024 * (layers / 2 + head) / 1e15, 1e-12);
}

TEST(PhysicalBound, OfSeveralKindsTheFastestCounts) {
  const TransformerModel model = small_model();
  const Profile fast = round_profile();
  const Profile slow = round_profile(4.0);
  const auto bound = [&](const KindProfiles& profiles) {
    return physical_bound(layers_of(model), two_stages(), profiles, Workload(), Timeline(),
                          Topology());
  };
  const PhysicalBound mixed = bound(KindProfiles(std::vector<const Profile*>{&slow, &fast}));
  EXPECT_EQ(mixed.compute, bound(fast).compute);
  EXPECT_EQ(mixed.memory, bound(fast).memory);
  EXPECT_LT(mixed.compute, bound(slow).compute);
}

TEST(PhysicalBound, StatesAreReadAndWrittenOnce) {
  const TransformerModel model = small_model();
  const Strategy strategy = two_stages();
  Bytes most;
  for (const StageMemory& stage : stage_memory(layers_of(model), strategy)) {
    most = max(most, stage.parameters + 2.0 * stage.optimizer);  // 2 B + 2 * 12 B a parameter
  }
  const Profile profile = round_profile();
  const PhysicalBound bound =
      physical_bound(layers_of(model), strategy, profile, Workload(), Timeline(), Topology());
  EXPECT_NEAR(bound.memory.count(), most.count() / 1e12, 1e-15);
}

TEST(PhysicalBound, AFasterIterationIsABug) {
  const PhysicalBound bound{Seconds(2.0), Seconds(1.0), Seconds(0.5)};
  EXPECT_NO_THROW(check_physical(bound, 2.0_s, {}));
  EXPECT_THROW(check_physical(bound, 1.9_s, {}), InternalError);
  // A device that is listed as twice as fast has half the bound.
  Perturbation fast;
  fast.slow_accelerators[0] = 0.5;
  EXPECT_NO_THROW(check_physical(bound, 1.9_s, fast));
  EXPECT_THROW(check_physical(bound, 0.9_s, fast), InternalError);
}

TEST(PhysicalBound, NoDeviceMakesALinkFaster) {
  const PhysicalBound bound{Seconds(0.0), Seconds(0.0), Seconds(1.0)};
  Perturbation fast;
  fast.slow_accelerators[0] = 0.001;
  EXPECT_THROW(check_physical(bound, 0.9_s, fast), InternalError);
}

}  // namespace
}  // namespace headway
