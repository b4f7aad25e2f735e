// Fields of "memory" that are written and change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kLlama3;
using testing::problems;

std::string of_layout(const std::string& layout, const std::string& memory) {
  return problems(
      kLlama3, layout + R"(, "micro_batch": 1, "global_batch": 64, "memory": {)" + memory + "}", 8);
}

TEST(StrategyMemoryProblems, WhatTheLayoutHasNoneOfChangesNothing) {
  EXPECT_EQ(
      of_layout(R"("preset": "megatron", "tensor_parallel": 1)", R"("gathered_inputs": true)"),
      R"(warning: memory.gathered_inputs changes nothing in this job
  --> scenario.json:9:113   /strategy/memory/gathered_inputs
   |
 9 | "preset": "megatron", "tensor_parallel": 1, "micro_batch": 1, "global_batch": 64, "memory": {"gathered_inputs": true}
   |                                                                                                                 ^^^^ an accelerator holds as much with false
  help: leave it out; `headway explain strategy.memory.gathered_inputs` says what it is about
)");
}

// With a second rank it keeps the gathered inputs of both.
TEST(StrategyMemoryProblems, WhereItChangesSomethingNothingIsSaid) {
  EXPECT_THAT(
      of_layout(R"("preset": "megatron", "tensor_parallel": 2)", R"("gathered_inputs": true)"),
      IsEmpty());
}

// A stream of fp32 weights is in fp32 whatever is said of it.
TEST(StrategyMemoryProblems, WideResidualsOfFp32AreNotWider) {
  EXPECT_THAT(
      of_layout(R"("preset": "megatron", "precision": "fp32")", R"("wide_residuals": true)"),
      HasSubstr("memory.wide_residuals changes nothing"));
  EXPECT_THAT(of_layout(R"("preset": "megatron")", R"("wide_residuals": true)"), IsEmpty());
}

// Sharded gradients have no buckets beside them.
TEST(StrategyMemoryProblems, BucketsOfShardedGradientsDoNotStand) {
  EXPECT_THAT(of_layout(R"("preset": "pytorch-fsdp")", R"("standing_buckets": true)"),
              HasSubstr("memory.standing_buckets changes nothing"));
  EXPECT_THAT(of_layout(R"("preset": "megatron", "zero_stage": 0)", R"("standing_buckets": true)"),
              IsEmpty());
}

// Written out as the preset has it, as resolved scenarios are.
TEST(StrategyMemoryProblems, WhatThePresetSaysAnywayIsNoMatter) {
  EXPECT_THAT(of_layout(R"("preset": "megatron", "tensor_parallel": 1)",
                        R"("gathered_inputs": false, "fused_softmax": true)"),
              IsEmpty());
}

// Other problems come first: what changes nothing in a job that is none says little.
TEST(StrategyMemoryProblems, ABrokenJobIsNotAskedWhatChanges) {
  const std::string said = of_layout(R"("preset": "megatron", "tensor_parallel": 3)",
                                     R"("previous_logits": false, "fused_softmax": false)");
  EXPECT_THAT(said, HasSubstr("error"));
  EXPECT_THAT(said, ::testing::Not(HasSubstr("changes nothing")));
}

}  // namespace
}  // namespace headway
