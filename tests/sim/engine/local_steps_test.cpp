// Local steps: what an average iteration takes, and what it sends, against arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/layers/parameters.h"
#include "sim/programs/build_workload.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"
#include "tests/support/synchronisation_reading.h"

namespace headway {
namespace {

constexpr double kIslandNic = 1e6;
constexpr double kIslandHop = 2e-6;

struct Period {
  int every = 500;
  int islands = 0;
  double bits = 32.0;
  int fragments = 1;
  double overlap_steps = 0.0;

  [[nodiscard]] Synchronisation synchronisation() const {
    return synchronisation_of(fmt::format(
        R"({{"scheme": "local_steps", "every": {}, "islands": {}, "bits": {}, "fragments": {},
             "overlap_steps": {}}})",
        every, islands, bits, fragments, overlap_steps));
  }
};

/// Replicas of one accelerator each around one switch.
struct IslandRun {
  int replicas = 4;
  bool averages = true;  ///< else gradients are reduced at every step
  Period how = {};
  std::int64_t sequence = 64;

  Model model = thousand_parameter_layers(4, 10);

  /// That travel: all but the scales of the norm in front of the head, which no exchange counts.
  [[nodiscard]] double learned() const {
    return parameters(model).total() - parameters(model.last).of(Part::normalization);
  }
  [[nodiscard]] Strategy strategy() const {
    Strategy strategy{
        .data_parallel = replicas, .global_batch = replicas, .sequence_length = sequence};
    strategy.gradient_precision = Precision::bf16;
    if (averages) strategy.synchronisation = how.synchronisation();
    return strategy;
  }

  struct Outcome {
    double time = 0.0;
    double work = 0.0;   ///< of a replica, but for the outer step
    double outer = 0.0;  ///< the outer step
    double bytes = 0.0;  ///< of all flows
  };
  [[nodiscard]] Outcome run(const Perturbation& perturbation = {}) const {
    const auto cluster =
        cluster_of(ClusterText{.nodes = replicas, .nic_bandwidth = "1 MB/s"}.text());
    const Workload workload = build_workload({model,
                                              strategy(),
                                              round_profile(),
                                              *cluster,
                                              {.data = replicas},
                                              CollectiveAlgorithm::ring})
                                  .workload;
    const Timeline timeline = simulate_workload(workload, cluster->topology, perturbation);
    Outcome outcome{.time = timeline.finish};
    const Program& program = workload.programs.front();
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::compute) continue;
      const Block& block = program.blocks[static_cast<std::size_t>(operation.block)];
      (block.name == "outer optimizer" ? outcome.outer : outcome.work) +=
          block.time.total().count();
    }
    outcome.bytes = std::reduce(timeline.plan_bytes.begin(), timeline.plan_bytes.end());
    return outcome;
  }
  /// Of one average of a fragment among W islands on its way: 2 (W - 1) steps of a ring.
  [[nodiscard]] double average_time() const {
    const double bytes = learned() / how.fragments * how.bits / 8.0;
    return 2.0 * (replicas - 1) * (kIslandHop + bytes / replicas / kIslandNic);
  }
};

TEST(LocalSteps, AnIterationHasItsShareOfAnAverage) {
  for (const int replicas : {2, 4, 7}) {
    for (const int every : {1, 10, 500}) {
      for (const int fragments : {1, 3}) {
        if (fragments > every) continue;
        IslandRun job{.replicas = replicas};
        job.how.every = every;
        job.how.fragments = fragments;
        const auto outcome = job.run();
        const double expected =
            outcome.work + outcome.outer + fragments * job.average_time() / every;
        EXPECT_NEAR(outcome.time, expected, 1e-9 * expected)
            << replicas << " replicas, " << fragments << " fragments every " << every;
      }
    }
  }
}

// Four fragments every sixteen steps, each beside tau steps: f = tau/4 of the steps hide them.
TEST(LocalSteps, WhatStepsDoNotHideIsWaitedFor) {
  bool hides = false;
  bool waits = false;
  for (const std::int64_t sequence : {2'000, 100'000}) {
    for (const int steps : {1, 2, 3, 4}) {
      IslandRun job;
      job.sequence = sequence;
      job.how.every = 16;
      job.how.fragments = 4;
      job.how.overlap_steps = steps;
      const auto outcome = job.run();
      const double hidden = steps / 4.0 * outcome.work;
      const double exposed = std::max(0.0, job.average_time() / 4.0 - hidden);
      const double expected = outcome.work + outcome.outer + exposed;
      EXPECT_NEAR(outcome.time, expected, 1e-9 * expected)
          << sequence << " tokens, " << steps << " steps";
      (exposed > 0.0 ? waits : hides) = true;
    }
  }
  EXPECT_TRUE(hides);
  EXPECT_TRUE(waits);
}

// Islands of one accelerator wait for the slowest mean of K steps, which is further from the mean
// of all by 1 / sqrt(K) of what the slowest step is: a tenth of it from 4 steps to 400.
TEST(LocalSteps, LongerPeriodsAverageWhatOperationsDifferBy) {
  const auto waited = [](int every) {
    IslandRun job{.replicas = 16, .sequence = 100'000};
    job.how.every = every;
    const auto even = job.run();
    constexpr double kSigma = 0.2;
    constexpr int kPeriods = 60;
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < kPeriods; ++seed) {
      sum += job.run({.seed = seed, .jitter = {.spread = kSigma}}).time / kPeriods;
    }
    return sum - even.time - std::expm1(kSigma * kSigma / 2.0) * even.work;
  };
  EXPECT_NEAR(waited(4) / waited(400), 10.0, 1.5);
}

// 16-bit gradients at every step against 4 bits every 100: 400 times the bytes (Douillard et al.
// 2025, arXiv:2501.18512, table 1: 441 and 1.10 TB).
TEST(LocalSteps, SendsFourHundredTimesFewerBytesThanGradientsDo) {
  IslandRun job;
  job.how.every = 100;
  job.how.bits = 4.0;
  IslandRun every_step;
  every_step.averages = false;
  EXPECT_NEAR(every_step.run().bytes / job.run().bytes, 400.0, 400.0 * 1e-9);
}

// 10 B parameters, 8 bits, 38 minutes for 100 steps: where the average takes 103 s the islands
// compute for 95.7 % of the time (Jaghouar et al. 2024, arXiv:2412.01152, table 2). Here with the
// same proportions: the average is 103/2280 of a period.
TEST(LocalSteps, KeepsIslandsAsBusyAsIntellect1) {
  IslandRun job;
  job.how.every = 100;
  job.how.bits = 8.0;
  job.sequence = 100'000;
  auto outcome = job.run();
  const double computing = (outcome.work + outcome.outer) / outcome.time;
  const double average = job.average_time() / (100.0 * (outcome.work + outcome.outer));
  EXPECT_NEAR(computing, 1.0 / (1.0 + average), 1e-9);
  EXPECT_NEAR(1.0 / (1.0 + 103.0 / 2280.0), 0.957, 0.0005);
}

TEST(LocalSteps, IslandsExchangeGradientsInsideAndAveragesBetween) {
  IslandRun job{.replicas = 8};
  job.how.islands = 2;
  const auto cluster = cluster_of(ClusterText{.nodes = 8, .nic_bandwidth = "1 MB/s"}.text());
  const Workload workload = build_workload({job.model,
                                            job.strategy(),
                                            round_profile(),
                                            *cluster,
                                            {.data = 8},
                                            CollectiveAlgorithm::ring})
                                .workload;
  int reduces = 0;
  int averages = 0;
  int gathers = 0;
  for (const Communicator& communicator : workload.communicators) {
    if (communicator.name.starts_with("gradient reduce")) {
      EXPECT_EQ(communicator.members, 4);
      ++reduces;
    } else if (communicator.name.starts_with("average of islands")) {
      EXPECT_EQ(communicator.members, 2);
      ++averages;
    } else {
      EXPECT_EQ(communicator.members, 4);
      ++gathers;
    }
  }
  EXPECT_EQ(reduces, 2);
  EXPECT_EQ(averages, 4);  // each rank of an island with its like
  EXPECT_EQ(gathers, 2);
}

}  // namespace
}  // namespace headway
