#include "sim/predict/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

TEST(Interval, ASourceThatWasSeenIsKnownBetterThanOneThatWasNot) {
  for (const JobKind kind : {JobKind::dense, JobKind::experts, JobKind::fine_tuning}) {
    EXPECT_LT(known_source_error(kind), model_error(kind));
  }
}

TEST(Interval, AMixtureIsKnownLessThatLeavesItsExpertsToTheSoftware) {
  EXPECT_GT(model_error(JobKind::open_experts), model_error(JobKind::experts));
  nlohmann::json said = small_scenario(8);
  said["model"] = "qwen3_30b_a3b";
  said["strategy"] = {{"preset", "megatron-bridge"}, {"global_batch", 64}, {"expert_parallel", 8}};
  EXPECT_EQ(job_kind(scenario_of(said)), JobKind::open_experts);
  said["strategy"]["expert_dispatch"] = "all_to_all";
  EXPECT_EQ(job_kind(scenario_of(said)), JobKind::experts);
  said["model"] = "llama3_8b";
  said["strategy"] = {{"preset", "megatron-bridge"}, {"global_batch", 64}};
  EXPECT_EQ(job_kind(scenario_of(said)), JobKind::dense);
}

TEST(Interval, AnAcceleratorThatNobodyMeasuredIsKnownLess) {
  nlohmann::json said = small_scenario(8);
  const double known = model_error(scenario_of(said));
  EXPECT_EQ(known, model_error(JobKind::dense));
  Profile profile = scenario_of(said).profiles().of(0);
  profile.kind = "published";
  profile.published_steps = {};
  profile.device.products.clear();
  const double dense = accelerator_error(JobKind::dense, profile);
  EXPECT_GT(dense, 0.0);

  EXPECT_GT(accelerator_error(JobKind::experts, profile), dense);
  profile.published_steps.count = 1;
  EXPECT_EQ(accelerator_error(JobKind::dense, profile), 0.0);
  profile.published_steps.count = 0;
  profile.kind = "measured";
  EXPECT_EQ(accelerator_error(JobKind::dense, profile), 0.0);
}

TEST(Interval, MeasuredStepsLeaveAPartOfTheVariance) {
  // A quarter of the variance is half the width of sqrt(0.03^2 + 0.04^2).
  const Interval interval = anchored_interval({2.0}, 0.03, 0.04, 0.25);
  EXPECT_NEAR(std::log(interval.high / 2.0), 1.6448536 * 0.025, 1e-8);
  // Two measurements of one job differ by 2 %.
  EXPECT_NEAR(std::log(repeated_interval({2.0}).high / 2.0), 1.6448536 * 0.02, 1e-8);
}

TEST(Interval, ErrorsOfKernelsAndOfTheModelAddAsSquares) {
  // sqrt(0.03^2 + 0.04^2) = 0.05, 1.645 of which lie on either side.
  const Interval interval = expected_interval({2.0}, 0.03, 0.04);
  EXPECT_NEAR(std::log(interval.high / 2.0), 1.6448536 * 0.05, 1e-8);
  EXPECT_NEAR(std::log(2.0 / interval.low), 1.6448536 * 0.05, 1e-8);
}

}  // namespace
}  // namespace headway
