// Products are 1000 operations at 1e6 a second, 1 ms each; gradients of a layer have 400 bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/validate/measured/measured_comparison.h"
#include "sim/validate/measured/predicted_step.h"
#include "tests/support/small_step.h"

namespace headway {
namespace {

/// All-reduces among 2 and 4 ranks and messages between 2, of any size that the steps here need.
Profile network_only(double all_reduce_s, double message_s = 1.0) {
  Profile profile;
  profile.name = "here";
  const auto add = [&profile](CollectiveKind kind, double time, int ranks = 2) {
    MeasuredCollective collective{kind, ranks, {}};
    collective.curve.points = {{10_B, Seconds(time)}, {1_KB, Seconds(time)}};
    profile.scale_up.collectives.push_back(collective);
  };
  add(CollectiveKind::all_reduce, all_reduce_s);
  add(CollectiveKind::all_reduce, 2.0 * all_reduce_s, 4);
  add(CollectiveKind::send_receive, message_s);
  profile.kernel_families["measured"].memory_traffic.value = 1.0;
  return profile;
}

double predicted(const TrainingStep& step, int ranks, const Profile& profile) {
  return predicted_step_time(step, ranks, profile).count();
}

TEST(PredictedStep, WithoutOverlapIsComputeThenNetwork) {
  // 3 forward + 3 weight gradients + 2 input gradients = 8 ms, then 3 all-reduces of 5 ms
  EXPECT_NEAR(predicted(small_step(false), 2, network_only(5e-3)), 23e-3, 1e-12);
}

TEST(PredictedStep, AnAllReduceTakesAsLongAsItWasMeasuredInItsGroup) {
  // Four ranks: 8 ms, then 3 all-reduces of 10 ms
  EXPECT_NEAR(predicted(small_step(false), 4, network_only(5e-3)), 38e-3, 1e-12);
}

TEST(PredictedStep, OverlapHidesTheNetworkBehindTheBackwardPass) {
  // The last layer's gradients are ready at 3 + 2 = 5 ms; three all-reduces in a row end at 20 ms.
  EXPECT_NEAR(predicted(small_step(true), 2, network_only(5e-3)), 20e-3, 1e-12);
  // 1 ms each: from 5, 7 and 8 ms; the last one ends at 9 ms.
  EXPECT_NEAR(predicted(small_step(true), 2, network_only(1e-3)), 9e-3, 1e-12);
}

TEST(PredictedStep, EverybodyWaitsForTheSlowRank) {
  TrainingStep step = small_step(false);
  step.slow_rank = 1;
  step.slow_factor = 1.5;
  EXPECT_NEAR(predicted(step, 2, network_only(5e-3)), 8e-3 * 1.5 + 15e-3, 1e-12);
}

TEST(PredictedStep, DrawsTheJitterThatTheRanksDraw) {
  TrainingStep step = small_step(false);
  step.jitter = 0.5;
  step.steps = 3;
  std::vector<double> slowest;
  for (int index = 0; index < 3; ++index) {
    slowest.push_back(std::max(compute_factor(step, 0, index), compute_factor(step, 1, index)));
  }
  std::sort(slowest.begin(), slowest.end());
  EXPECT_NEAR(predicted(step, 2, network_only(5e-3)), 8e-3 * slowest[1] + 15e-3, 1e-12);
}

TEST(PredictedStep, OneRankHasNoNetwork) {
  EXPECT_NEAR(predicted(small_step(false), 1, network_only(5e-3)), 8e-3, 1e-12);
}

TEST(PredictedStep, APipelinePassesMicroBatchesOn) {
  TrainingStep step = small_step(false);
  step.layers = 2;
  step.pipeline_stages = 2;
  step.batch = 10;
  step.micro_batches = 2;
  // Messages take 3 ms, one after the other. Forward: ready at 1 and 2 ms, they arrive at 4 and 7
  // ms; stage 1 is through at 8. Backward of the second: both gradients until 10 ms, which arrive
  // at 13; of the first until 12, at 16. Stage 0 then has a weight gradient to compute: 17 ms.
  EXPECT_NEAR(predicted(step, 2, network_only(1.0, 3e-3)), 17e-3, 1e-12);
}

/// Two stages of a layer each and three micro-batches, messages of 200 bytes that take 3 ms.
TrainingStep pipeline() {
  TrainingStep step = small_step(false);
  step.layers = 2;
  step.pipeline_stages = 2;
  step.batch = 15;
  step.micro_batches = 3;
  return step;
}

TEST(PredictedStep, AFullBucketSavesThePartOfAMessageThatPassesAtOnce) {
  // Half of the first message of a pass needs no time. Forward: ready at 1, 2 and 3 ms, they arrive
  // at 2.5, 5.5 and 8.5; stage 1 is through at 9.5. Gradients are ready at 11.5, 13.5 and 15.5 ms:
  // the first arrives at 13, the second half a millisecond's savings sooner than in 3, at 16, the
  // third at 19; stage 0 ends at 20.
  Profile profile = network_only(1.0, 3e-3);
  profile.scale_up.burst = 100_B;
  EXPECT_NEAR(predicted(pipeline(), 2, profile), 20e-3, 1e-12);
}

TEST(PredictedStep, ABucketFillsWhileTheLinkIsIdle) {
  // Messages of 1.5 ms. Forward, ready every 1 ms: the first takes 0.75 and leaves 0.25 ms in which
  // 33.3 bytes are saved; the second takes 166.7 bytes, 1.25 ms, the third 1.5: arrivals at 1.75,
  // 3.25 and 4.75; stage 1 is through at 5.75. Backward, ready every 2 ms: all of them take 0.75,
  // ready at 7.75, 9.75 and 11.75, the last one arrives at 12.5; stage 0 ends at 13.5.
  Profile profile = network_only(1.0, 1.5e-3);
  profile.scale_up.burst = 100_B;
  EXPECT_NEAR(predicted(pipeline(), 2, profile), 13.5e-3, 1e-12);
}

TEST(PredictedStep, NeedsTheGroupInTheProfile) {
  try {
    (void)predicted(small_step(false), 3, network_only(1.0));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().message,
              "profile here holds no all_reduce of 400 bytes among 3 ranks");
  }
}

std::vector<MeasuredStep> rows_off_by(double error, double contaminated) {
  std::vector<MeasuredStep> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back({small_step(false), 2, 23e-3 / (1.0 + error), 0.01, contaminated});
  }
  return rows;
}

TEST(MeasuredComparison, IsOkWithinTheGoalAndOffBeyondIt) {
  const auto good = measured_comparison(rows_off_by(0.04, 0.0), {network_only(5e-3)});
  EXPECT_EQ(word_of(good.verdict), "ok");
  EXPECT_NEAR(good.median_error, 0.04, 1e-9);
  EXPECT_NEAR(good.worst_error, 0.04, 1e-9);
  const auto bad = measured_comparison(rows_off_by(0.2, 0.0), {network_only(5e-3)});
  EXPECT_EQ(word_of(bad.verdict), "off");
  EXPECT_EQ(bad.reason, "predictions are further off than 5 % in the median or 10 % at p90");
}

TEST(MeasuredComparison, IsInconclusiveOnANoisyOrDriftingMachine) {
  const auto noisy = measured_comparison(rows_off_by(0.2, 0.06), {network_only(5e-3)});
  EXPECT_EQ(word_of(noisy.verdict), "inconclusive");
  EXPECT_EQ(noisy.reason, "the machine was shared with other work");
  // 23 ms before and 26 ms after: 12 % apart
  const auto drift =
      measured_comparison(rows_off_by(0.0, 0.0), {network_only(5e-3), network_only(6e-3)});
  EXPECT_EQ(word_of(drift.verdict), "inconclusive");
  EXPECT_EQ(drift.reason, "the machine changed between the calibrations");
  EXPECT_FALSE(noisy.profiles_difference.has_value());
  EXPECT_NEAR(drift.profiles_difference.value(), 3.0 / 24.5, 1e-9);
}

}  // namespace
}  // namespace headway
