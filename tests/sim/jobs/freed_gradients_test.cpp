#include <gtest/gtest.h>

#include "sim/jobs/memory.h"
#include "sim/jobs/memory_of_stage.h"
#include "sim/jobs/stage_parameters.h"
#include "tests/sim/jobs/sample_models.h"

namespace headway {
namespace {

const Model kFreed = testing::llama(32, 4096, 32, 8, 14'336);

Strategy long_sequences() { return {.global_batch = 64, .sequence_length = 8192}; }

StageMemory whole_model(const Strategy& strategy) {
  const std::vector<StageMemory> stages = stage_memory(kFreed, strategy);
  EXPECT_EQ(stages.size(), 1U);
  return stages.front();
}

TEST(Buffers, OfFullShardingOverOneRankGatherNothing) {
  Strategy strategy = long_sequences();
  const Bytes replicated = whole_model(strategy).buffers;
  strategy.sharding = Sharding::full;
  EXPECT_EQ(whole_model(strategy).buffers, replicated);
}

// 4 bytes of each gradient, of which activations and what the loss works with take the place.
TEST(ModelStates, GradientsThatAreLetGoAreNotThereBesideActivations) {
  Strategy strategy = long_sequences();
  strategy.global_batch = 1;
  const StageMemory kept = whole_model(strategy);
  strategy.memory.freed_gradients = true;
  const StageMemory freed = whole_model(strategy);
  const Bytes loss(6.0 * 8192 * 128'000);
  EXPECT_EQ(freed.gradients,
            max(Bytes(0.0), Bytes(4.0 * parameters(kFreed).total()) - kept.activations - loss));
  EXPECT_LT(freed.total(), kept.total());
  EXPECT_GE(freed.total(), states_of_stage(kFreed, strategy, 0).total());

  // Of an eighth of the sequence both together are less: the rest stands beside them.
  strategy.sequence_length = 1024;
  const StageMemory shorter = whole_model(strategy);
  EXPECT_EQ(shorter.gradients,
            Bytes(4.0 * parameters(kFreed).total() - 6.0 * 1024 * 128'000) - shorter.activations);
  EXPECT_GT(shorter.gradients, 1_GB);
  strategy.sequence_length = 8192;

  // Beside what is added up over micro-batches, and over a pipeline's, all are there.
  strategy.global_batch = 2;
  EXPECT_EQ(whole_model(strategy).gradients, kept.gradients);
}

}  // namespace
}  // namespace headway
