#include <gtest/gtest.h>

#include <vector>

#include "calibrate/train/comparison.h"
#include "calibrate/train/predicted_step.h"
#include "calibrate/train/read_steps.h"
#include "calibrate/train/reducer.h"
#include "calibrate/train/trainer.h"
#include "sim/base/diagnostic.h"
#include "tests/calibrate/cpu/thread_transport.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// Only the all-reduce of 4 d^2 = 400 bytes among 2 ranks, 5 ms; emulated compute needs no more.
Profile network_only(double all_reduce_s) {
  Profile profile;
  MeasuredCollective collective{CollectiveKind::all_reduce, 2, {}};
  collective.curve.points = {{100_B, Seconds(all_reduce_s)}, {1_KB, Seconds(all_reduce_s)}};
  profile.scale_up.collectives.push_back(collective);
  profile.kernel_families["measured"].memory_traffic.value = 1.0;
  return profile;
}

/// Products of 2 * 5 * 10 * 10 = 1000 operations at 1e6 a second: 1 ms each.
TrainingStep small_step(bool overlap) {
  TrainingStep step;
  step.id = "small";
  step.layers = 3;
  step.width = 10;
  step.batch = 5;
  step.overlap = overlap;
  step.emulated_flops_per_s = 1e6;
  return step;
}

TEST(PredictedStep, WithoutOverlapIsComputeThenNetwork) {
  // 3 forward + 3 weight gradients + 2 input gradients = 8 ms, then 3 all-reduces of 5 ms
  EXPECT_NEAR(predicted_step_time(small_step(false), 2, network_only(5e-3)), 23e-3, 1e-12);
}

TEST(PredictedStep, OverlapHidesTheNetworkBehindTheBackwardPass) {
  // The last layer's gradient is ready at 3 + 1 = 4 ms; three all-reduces in a row end at 19 ms.
  EXPECT_NEAR(predicted_step_time(small_step(true), 2, network_only(5e-3)), 19e-3, 1e-12);
  // 1 ms each: from 4, 6 and 8 ms; the last one ends at 9 ms.
  EXPECT_NEAR(predicted_step_time(small_step(true), 2, network_only(1e-3)), 9e-3, 1e-12);
}

TEST(PredictedStep, EverybodyWaitsForTheSlowRank) {
  TrainingStep step = small_step(false);
  step.slow_rank = 1;
  step.slow_factor = 1.5;
  EXPECT_NEAR(predicted_step_time(step, 2, network_only(5e-3)), 8e-3 * 1.5 + 15e-3, 1e-12);
}

TEST(PredictedStep, OneRankHasNoNetwork) {
  EXPECT_NEAR(predicted_step_time(small_step(false), 1, network_only(5e-3)), 8e-3, 1e-12);
}

TEST(PredictedStep, NeedsTheGroupInTheProfile) {
  EXPECT_THROW((void)predicted_step_time(small_step(false), 3, network_only(1.0)),
               EnvironmentError);
}

TEST(ComputeFactor, IsTheSameForTheSameRankAndStepOnly) {
  TrainingStep step;
  EXPECT_EQ(compute_factor(step, 0, 0), 1.0);
  step.jitter = 0.2;
  EXPECT_EQ(compute_factor(step, 1, 2), compute_factor(step, 1, 2));
  EXPECT_NE(compute_factor(step, 1, 2), compute_factor(step, 2, 2));
  double mean = 0.0;
  for (int i = 0; i < 10000; ++i) mean += compute_factor(step, 0, i) / 10000.0;
  EXPECT_NEAR(mean, 1.2, 3.0 * 0.2 / 100.0);  // sigma of the mean: 0.2 / sqrt(10000)
}

TEST(Reducer, SumsGradientsInOrderWithAndWithoutAThread) {
  for (const bool overlap : {false, true}) {
    EXPECT_TRUE(run_on_ranks(3, [overlap](Transport& transport) {
      Reducer reducer(transport, overlap);
      std::vector<std::vector<float>> gradients(5, std::vector<float>(7, 1.0F));
      for (std::vector<float>& gradient : gradients) reducer.reduce(gradient);
      reducer.finish();
      for (const auto& gradient : gradients) EXPECT_EQ(gradient, std::vector<float>(7, 3.0F));
    }));
  }
}

/// A network that fails at once.
class BrokenTransport final : public Transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 2; }
  void exchange(std::span<const std::byte> /*out*/, int /*to*/, std::span<std::byte> /*in*/,
                int /*from*/) override {
    throw EnvironmentError("rank 1 is gone");
  }
};

TEST(Reducer, AFailureOnItsThreadReachesTheCaller) {
  BrokenTransport broken;
  Reducer reducer(broken, true);
  std::vector<float> gradient(8);
  reducer.reduce(gradient);
  EXPECT_THROW(reducer.finish(), EnvironmentError);
}

TEST(Trainer, RunsEverySortOfStep) {
  // Two threads play two ranks; each has a transport for its messages and one for the network.
  Mailboxes main_boxes;
  Mailboxes network_boxes;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([rank, &main_boxes, &network_boxes] {
      ThreadTransport transport(main_boxes, rank, 2);
      ThreadTransport network(network_boxes, rank, 2);
      for (const bool overlap : {false, true}) {
        for (const double emulated : {0.0, 1e8}) {
          TrainingStep step = small_step(overlap);
          step.steps = 3;
          step.emulated_flops_per_s = emulated;
          const MeasuredStep measured = measured_step(step, transport, network);
          EXPECT_EQ(measured.ranks, 2);
          // Emulated compute waits for at least as long as it says: 8000 operations at 1e8 a
          // second.
          EXPECT_GE(measured.time_s, emulated > 0.0 ? 8000.0 / emulated * 0.99 : 1e-9);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Steps, AreReadWithDefaultsAndWrittenBack) {
  const ScratchFolder folder;
  const auto steps = read_steps(folder.write(
      "steps.json",
      R"({"schema": "headway/steps/1", "steps": [{"id": "a"}, {"id": "b", "overlap": true}]})"));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_FALSE(steps[0].overlap);
  EXPECT_TRUE(steps[1].overlap);
}

TEST(Steps, ReportWhatCannotBeRun) {
  const ScratchFolder folder;
  const std::string path = folder.write("steps.json",
                                        R"({"schema": "headway/steps/1", "steps": [
  {"id": "a", "layers": 0},
  {"id": "b", "jitter": 0.2},
  {"id": "c", "widht": 8}
]})");
  try {
    (void)read_steps(path);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 3U);
    EXPECT_EQ(error.diagnostics()[1].message, "a straggler needs emulated compute");
  }
}

std::vector<MeasuredStep> rows_off_by(double error, double contaminated) {
  std::vector<MeasuredStep> rows;
  for (int i = 0; i < 10; ++i) {
    rows.push_back({small_step(false), 2, 23e-3 / (1.0 + error), 0.01, contaminated});
  }
  return rows;
}

TEST(Comparison, IsOkWithinTheGoalAndOffBeyondIt) {
  const Comparison good = compared(rows_off_by(0.04, 0.0), {network_only(5e-3)});
  EXPECT_EQ(good.verdict, "ok");
  EXPECT_NEAR(good.median_error, 0.04, 1e-9);
  EXPECT_EQ(compared(rows_off_by(0.2, 0.0), {network_only(5e-3)}).verdict, "off");
}

TEST(Comparison, IsInconclusiveOnANoisyOrDriftingMachine) {
  EXPECT_EQ(compared(rows_off_by(0.2, 0.06), {network_only(5e-3)}).verdict, "inconclusive");
  // 23 ms before and 26 ms after: 12 % apart
  const Comparison drift =
      compared(rows_off_by(0.0, 0.0), {network_only(5e-3), network_only(6e-3)});
  EXPECT_EQ(drift.verdict, "inconclusive");
  EXPECT_EQ(drift.reason, "the machine changed between the calibrations");
}

}  // namespace
}  // namespace headway
