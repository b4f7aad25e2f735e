// What torchtitan exits on beside the rest is said, not told.
#include "sim/launch/torchtitan_refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/sim/launch/jobs_to_launch.h"

namespace headway {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kReplicas = "parallelism.data_parallel_replicate_degree=";
constexpr const char* kExperts = "parallelism.expert_parallel_degree=";

/// Eight accelerators.
LaunchJob torchtitan_job(const nlohmann::json& strategy, bool has_experts = false) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"] = {{"preset", "torchtitan"},
                          {"micro_batch", 1},
                          {"global_batch", 64},
                          {"sequence_parallel", true}};
  scenario["strategy"].update(strategy);
  if (strategy.value("tensor_parallel", 1) == 1) scenario["strategy"].erase("sequence_parallel");
  if (has_experts) {
    scenario["model"]["mixture_of_experts"] = {
        {"experts", 8}, {"experts_per_token", 2}, {"expert_hidden", 512}};
  }
  return launch_job(scenario_of(scenario).resolved, LaunchFramework::torchtitan);
}

TEST(TorchtitanRefusals, ReplicasHoldWholeModels) {
  const LaunchJob whole = torchtitan_job({{"zero_stage", 0}});
  EXPECT_THAT(whole.flags.settings, Contains(HasSubstr(kReplicas)));
  const auto expect_refused = [](const nlohmann::json& split, const char* beside) {
    nlohmann::json strategy = {{"zero_stage", 0}};
    strategy.update(split);
    const LaunchJob job = torchtitan_job(strategy);
    EXPECT_THAT(job.flags.settings, Not(Contains(HasSubstr("parallelism.data_parallel_"))));
    EXPECT_THAT(words_of(job.flags.unsaid), Contains("zero_stage 0 beside " + std::string(beside)));
    EXPECT_THAT(job.remarks, Contains(HasSubstr("it shares out parameters over all of them")));
  };
  expect_refused({{"tensor_parallel", 2}}, "tensor or pipeline parallelism");
  expect_refused({{"pipeline_parallel", 2}}, "tensor or pipeline parallelism");
  expect_refused({{"context_parallel", 2}}, "context parallelism");
}

TEST(TorchtitanRefusals, ExpertsAreBorrowedFromShards) {
  const LaunchJob whole = torchtitan_job({{"zero_stage", 0}, {"expert_parallel", 2}}, true);
  EXPECT_THAT(words_of(whole.flags.unsaid), Contains("zero_stage 0 beside expert parallelism"));
  const LaunchJob sharded = torchtitan_job({{"expert_parallel", 2}}, true);
  EXPECT_THAT(sharded.flags.settings, Contains("parallelism.expert_parallel_degree=2"));
  const LaunchJob within = torchtitan_job({{"expert_parallel", 2}, {"tensor_parallel", 4}}, true);
  EXPECT_THAT(within.flags.settings, Not(Contains(HasSubstr(kExperts))));
  EXPECT_THAT(words_of(within.flags.unsaid), Contains(HasSubstr("expert_parallel 2 beside other")));
  const LaunchJob around = torchtitan_job({{"expert_parallel", 4}, {"tensor_parallel", 2}}, true);
  EXPECT_THAT(around.flags.settings, Contains("parallelism.expert_parallel_degree=4"));
}

// parallel_dims.py: expert_tensor_parallel_degree is 1 or tensor_parallel_degree, and of the latter
// experts are borrowed from shards alone.
TEST(TorchtitanRefusals, ExpertsAreSplitAsTheRestIsOrNotAtAll) {
  constexpr const char* kSplit = "parallelism.expert_tensor_parallel_degree=";
  const LaunchJob alike = torchtitan_job(
      {{"expert_parallel", 2}, {"tensor_parallel", 2}, {"expert_tensor_parallel", 2}}, true);
  EXPECT_THAT(alike.flags.settings, Contains("parallelism.expert_tensor_parallel_degree=2"));
  EXPECT_THAT(alike.flags.settings, Contains("parallelism.expert_parallel_degree=2"));
  const LaunchJob other = torchtitan_job(
      {{"expert_parallel", 2}, {"tensor_parallel", 4}, {"expert_tensor_parallel", 2}}, true);
  EXPECT_THAT(other.flags.settings, Not(Contains(HasSubstr(kSplit))));
  EXPECT_THAT(words_of(other.flags.unsaid),
              Contains("expert_tensor_parallel 2 beside another tensor_parallel"));
}

TEST(TorchtitanRefusals, OneReplicaMultipliesIn32Bits) {
  const nlohmann::json alone = {{"tensor_parallel", 8}, {"zero_stage", 0}};
  EXPECT_THAT(words_of(torchtitan_job(alone).flags.unsaid),
              Contains("precision bf16 beside tensor or pipeline parallelism alone"));
  EXPECT_THAT(torchtitan_job({{"tensor_parallel", 4}}).flags.settings,
              Contains("training.mixed_precision_param=\"bfloat16\""));
}

}  // namespace
}  // namespace headway
