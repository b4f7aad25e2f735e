#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "calibrate/train/least_disturbed.h"
#include "calibrate/train/reducer.h"
#include "calibrate/train/trainer.h"
#include "sim/base/diagnostic.h"
#include "tests/calibrate/cpu/thread_transport.h"
#include "tests/support/small_step.h"

namespace headway {
namespace {

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

struct Attempt {
  int number = 0;
  double contaminated = 0.0;
};

/// Attempts whose contamination is the next of `shares`, counted in `run`.
Attempt least_disturbed_of(const std::vector<double>& shares, int& run) {
  run = 0;
  return least_disturbed(3, 0.02, [&shares, &run] {
    const double share = shares.at(static_cast<std::size_t>(run));
    return Attempt{++run, share};
  });
}

TEST(LeastDisturbed, AQuietRunIsNotRepeated) {
  int run = 0;
  EXPECT_EQ(least_disturbed_of({0.02}, run).number, 1);
  EXPECT_EQ(run, 1);
}

TEST(LeastDisturbed, ADisturbedRunIsRepeatedUntilOneIsQuiet) {
  int run = 0;
  EXPECT_EQ(least_disturbed_of({0.3, 0.01}, run).number, 2);
  EXPECT_EQ(run, 2);
}

TEST(LeastDisturbed, OfDisturbedRunsTheLeastDisturbedCounts) {
  int run = 0;
  EXPECT_EQ(least_disturbed_of({0.3, 0.1, 0.2}, run).number, 2);
  EXPECT_EQ(run, 3);
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

TEST(Trainer, RefusesStagesThatDoNotDivideTheRanks) {
  TrainingStep step = small_step(false);
  step.pipeline_stages = 2;
  EXPECT_TRUE(run_on_ranks(1, [&step](Transport& transport) {
    EXPECT_THROW((void)measured_step(step, transport, transport), EnvironmentError);
  }));
}

TEST(Trainer, RunsReplicatedPipelines) {
  // Four ranks: two replicas of two stages. Emulated: at least the compute of one stage,
  // 4 micro-batches of 2 forward and 4 backward products of 1000 operations at 1e7 a second.
  Mailboxes main_boxes;
  Mailboxes network_boxes;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank) {
    threads.emplace_back([rank, &main_boxes, &network_boxes] {
      ThreadTransport transport(main_boxes, rank, 4);
      ThreadTransport network(network_boxes, rank, 4);
      for (const bool overlap : {false, true}) {
        for (const double emulated : {0.0, 1e7}) {
          TrainingStep step = small_step(overlap);
          step.layers = 4;
          step.batch = 20;
          step.pipeline_stages = 2;
          step.micro_batches = 4;
          step.steps = 3;
          step.emulated_flops_per_s = emulated;
          const MeasuredStep measured = measured_step(step, transport, network);
          EXPECT_GE(measured.time_s, emulated > 0.0 ? 4.0 * 6.0 * 1000.0 / emulated : 1e-9);
        }
      }
      EXPECT_TRUE(network.sizes_matched());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace headway
