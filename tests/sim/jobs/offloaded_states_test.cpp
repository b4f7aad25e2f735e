#include <gtest/gtest.h>

#include "sim/jobs/memory.h"
#include "sim/layers/parameters.h"
#include "tests/sim/jobs/sample_models.h"

namespace headway {
namespace {

StageMemory memory_of_only_stage(const Model& model, const Strategy& strategy) {
  const std::vector<StageMemory> stages = stage_memory(model, strategy);
  EXPECT_EQ(stages.size(), 1U);
  return stages.front();
}

TEST(OffloadedStates, OfAnOffloadedOptimizerAreInHostMemory) {
  // A quarter of 12 bytes a parameter leaves the accelerator; with it, fp32 gradients are there.
  const Model model = testing::llama(32, 4096, 32, 8, 14'336);
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const StageMemory none = memory_of_only_stage(model, strategy);
  strategy.optimizer_offload = 0.25;
  const StageMemory offloaded = memory_of_only_stage(model, strategy);
  EXPECT_DOUBLE_EQ(offloaded.optimizer.count(), 0.75 * none.optimizer.count());
  EXPECT_DOUBLE_EQ(offloaded.host.count(), 0.25 * (12.0 + 4.0) / 12.0 * none.optimizer.count());
  EXPECT_EQ(offloaded.gradients, none.gradients);
}

// Ren et al. 2021 (ZeRO-Offload), section 3.3: what stays are the parameters and a bucket.
TEST(OffloadedStates, GradientsThatGoToTheHostLeaveABucket) {
  const Model model = testing::llama(32, 4096, 32, 8, 14'336);
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  strategy.sharding = Sharding::gradients;
  strategy.gradient_bucket = 1_GB;
  strategy.optimizer_offload = 0.25;
  const StageMemory kept = memory_of_only_stage(model, strategy);
  strategy.memory.offloaded_gradients = true;
  const StageMemory left = memory_of_only_stage(model, strategy);
  EXPECT_DOUBLE_EQ(left.gradients.count(), 0.75 * 4.0 * parameters(model).total());
  EXPECT_NEAR((left.buffers - kept.buffers).count(), 1e9, 1.0);  // a lone rank reduces nothing
  EXPECT_EQ(left.host, kept.host);
  strategy.optimizer_offload = 1.0;
  EXPECT_EQ(memory_of_only_stage(model, strategy).gradients, 0_B);
  strategy.sharding = Sharding::full;
  EXPECT_EQ(memory_of_only_stage(model, strategy).gradients, 0_B);
  strategy.optimizer_offload = 0.0;  // nothing leaves
  EXPECT_DOUBLE_EQ(memory_of_only_stage(model, strategy).gradients.count(),
                   4.0 * parameters(model).total());
}

}  // namespace
}  // namespace headway
