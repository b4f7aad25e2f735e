#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sim/engine/timeline_bytes.h"
#include "sim/jobs/strategy.h"
#include "sim/result/breakdown.h"
#include "sim/result/link_use.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/support/random_job.h"

namespace headway {
namespace {

constexpr std::uint64_t kJobs = 60;

/// Runs `check` on random jobs, each with its seed in the trace of a failure.
template <class Check>
void for_random_jobs(Check check) {
  for (std::uint64_t seed = 1; seed <= kJobs; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    check(random_job(seed));
    if (testing::Test::HasFatalFailure()) return;
  }
}

Timeline simulated(const RandomJob& job, const EngineOptions& options = {}) {
  return simulate_workload(job.workload(), job.cluster->topology, job.perturbation, options);
}

TEST(RandomJobs, BothFlowEnginesAgree) {
  for_random_jobs([](const RandomJob& job) {
    const Timeline incremental = simulated(job, {.flows = FlowEngine::incremental});
    const Timeline simgrid = simulated(job, {.flows = FlowEngine::simgrid});
    ASSERT_EQ(incremental.operation_end.size(), simgrid.operation_end.size());
    // SimGrid counts whole bytes, of flow after flow, and merges what happens within a nanosecond.
    const double within = 5e-9 * simgrid.finish;
    for (std::size_t i = 0; i < simgrid.operation_end.size(); ++i) {
      ASSERT_NEAR(incremental.operation_end[i], simgrid.operation_end[i], within);
    }
  });
}

TEST(RandomJobs, FoldingEqualLinksChangesNothing) {
  for_random_jobs([](const RandomJob& job) {
    const Timeline folded = simulated(job);
    const Timeline whole = simulated(job, {.fold_equal_links = false});
    for (std::size_t i = 0; i < whole.operation_end.size(); ++i) {
      ASSERT_NEAR(folded.operation_end[i], whole.operation_end[i], 1e-12 * whole.finish);
    }
  });
}

TEST(RandomJobs, TheBreakdownOfEveryRankSumsToTheIteration) {
  for_random_jobs([](const RandomJob& job) {
    const Workload workload = job.workload();
    const Timeline timeline = simulated(job);
    for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
      const TimeByCause time = group_breakdown(workload, timeline, group);
      ASSERT_NEAR(time.total().count(), timeline.finish, 1e-9 * timeline.finish);
      for (std::size_t cause = 0; cause < kCauses; ++cause) {
        ASSERT_GE(time[static_cast<Cause>(cause)].count(), -1e-12 * timeline.finish)
            << cause_name(static_cast<Cause>(cause));
      }
    }
  });
}

TEST(RandomJobs, TheCriticalPathLeadsFromZeroToTheEndWithoutAGap) {
  for_random_jobs([](const RandomJob& job) {
    const Timeline timeline = simulated(job);
    const auto path = critical_path(job.workload(), timeline);
    ASSERT_FALSE(path.empty());
    ASSERT_EQ(path.front().start.count(), 0.0);
    ASSERT_EQ(path.back().end.count(), timeline.finish);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      ASSERT_EQ(path[i].end.count(), path[i + 1].start.count()) << path[i].what;
      ASSERT_LT(path[i].start, path[i].end);
    }
  });
}

TEST(RandomJobs, LinksCarryWhatTheFlowsBring) {
  for_random_jobs([](const RandomJob& job) {
    const Workload workload = job.workload();
    const Timeline timeline = simulated(job);
    std::vector<double> carried(static_cast<std::size_t>(job.cluster->topology.link_count()));
    for (const RankGroup& group : workload.groups) {
      const Program& program = workload.programs[static_cast<std::size_t>(group.program)];
      for (const Operation& operation : program.operations) {
        double bytes = 0.0;
        std::int32_t plan = -1;
        if (operation.kind == OperationKind::send) {
          plan = group.paths[static_cast<std::size_t>(operation.path)];
          bytes = operation.amount.count();
        } else if (operation.kind == OperationKind::join) {
          const Communicator& communicator = workload.communicators[static_cast<std::size_t>(
              group.communicators[static_cast<std::size_t>(operation.path)])];
          plan = communicator.plan + operation.way;
          bytes = operation.amount.count() / communicator.members;  // one flow for all members
        }
        if (plan < 0) continue;
        for (const LinkLoad& load : workload.plans[static_cast<std::size_t>(plan)].links) {
          carried[static_cast<std::size_t>(load.link)] += load.weight * bytes;
        }
      }
    }
    const auto reported = bytes_by_link(workload, timeline, job.cluster->topology);
    for (std::size_t i = 0; i < carried.size(); ++i) {
      ASSERT_NEAR(reported[i], carried[i], 1e-9 * carried[i]) << "link " << i;
      const double most =
          job.cluster->topology.link(static_cast<LinkId>(i)).capacity.count() * timeline.finish;
      ASSERT_LE(reported[i], most * (1.0 + 1e-9)) << "link " << i << " carries more than it can";
    }
  });
}

TEST(RandomJobs, OperationsFollowEachOtherAndMessagesArriveAfterTheyWereSent) {
  for_random_jobs([](const RandomJob& job) {
    const Workload workload = job.workload();
    const Timeline timeline = simulated(job);
    for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
      const auto ends = timeline.ends_of(group);
      ASSERT_TRUE(std::is_sorted(ends.begin(), ends.end()));
      ASSERT_GE(ends.front(), 0.0);
      ASSERT_LE(ends.back(), timeline.finish);
    }
    for (const Timeline::Message& message : timeline.messages) {
      ASSERT_EQ(std::isnan(message.sent), std::isnan(message.arrived));
      if (std::isnan(message.sent)) continue;
      ASSERT_LE(message.sent, message.arrived);
    }
    for (const auto& of_communicator : timeline.collectives) {
      double before = 0.0;
      for (const Timeline::Collective& collective : of_communicator) {
        ASSERT_LE(collective.first_join, collective.last_join);
        ASSERT_LE(collective.last_join, collective.end);
        ASSERT_LE(before, collective.end);  // one after the other
        before = collective.end;
      }
    }
  });
}

TEST(RandomJobs, NobodyIsFasterThanItsOwnWork) {
  for_random_jobs([](RandomJob job) {
    job.perturbation = {};
    const Workload workload = job.workload();
    const Timeline timeline = simulated(job);
    for (const RankGroup& group : workload.groups) {
      const Program& program = workload.programs[static_cast<std::size_t>(group.program)];
      Seconds work;
      for (const Operation& operation : program.operations) {
        if (operation.kind != OperationKind::compute) continue;
        work += program.blocks[static_cast<std::size_t>(operation.block)].time.total();
      }
      ASSERT_GE(timeline.finish, work.count() * (1.0 - 1e-12));
    }
  });
}

TEST(RandomJobs, TwiceTheNicIsNeverSlower) {
  for_random_jobs([](RandomJob job) {
    const double before = simulated(job).finish;
    job.cluster_text.nic_bandwidth = "10 GB/s";
    job.build_cluster();
    ASSERT_LE(simulated(job).finish, before * (1.0 + 1e-9));
  });
}

TEST(RandomJobs, ASlowAcceleratorIsNeverFaster) {
  for_random_jobs([](RandomJob job) {
    const double before = simulated(job).finish;
    job.perturbation.slow_accelerators[job.strategy.ranks() / 2] = 1.5;
    ASSERT_GE(simulated(job).finish, before * (1.0 - 1e-9));
  });
}

TEST(RandomJobs, TheSameSeedGivesTheSameBytesWithAnyNumberOfJobs) {
  std::vector<Workload> workloads;
  std::vector<RandomJob> jobs;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    jobs.push_back(random_job(seed));
    workloads.push_back(jobs.back().workload());
  }
  std::vector<SimulationTask> tasks;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    tasks.push_back({&workloads[i], &jobs[i].cluster->topology, jobs[i].perturbation});
  }
  const auto bytes = [&](FlowEngine engine, int parallel) {
    std::vector<std::string> all;
    for (const Timeline& timeline : simulate_workloads(tasks, {.flows = engine}, parallel)) {
      all.push_back(run_bytes({timeline, std::nullopt}));
    }
    return all;
  };
  for (const FlowEngine engine : {FlowEngine::incremental, FlowEngine::simgrid}) {
    const auto once = bytes(engine, 1);
    EXPECT_TRUE(once == bytes(engine, 1));
    EXPECT_TRUE(once == bytes(engine, 2));
    EXPECT_TRUE(once == bytes(engine, 7));
  }
}

TEST(RandomJobs, TheirLengthAloneIsThatOfTheirTimeline) {
  for_random_jobs([](const RandomJob& job) {
    const Workload workload = job.workload();
    const SimulationTask task{&workload, &job.cluster->topology, job.perturbation};
    for (const FlowEngine flows : {FlowEngine::incremental, FlowEngine::simgrid}) {
      const EngineOptions options{.flows = flows};
      ASSERT_EQ(simulated_times({task}, options, 1).front(),
                simulate_workloads({task}, options, 1).front().finish);
    }
  });
}

TEST(RandomJobs, NoSpreadLeavesEveryTimeAsItIsToTheLastBit) {
  for_random_jobs([](RandomJob job) {
    job.perturbation = {};
    const std::string plain = run_bytes({simulated(job), std::nullopt});
    job.perturbation.seed = 4711;
    ASSERT_TRUE(plain == run_bytes({simulated(job), std::nullopt}));
  });
}

TEST(RandomJobs, AnotherSeedDrawsOtherTimes) {
  RandomJob job = random_job(1);
  job.perturbation.jitter.spread = 0.02;
  const double once = simulated(job).finish;
  ++job.perturbation.seed;
  EXPECT_NE(simulated(job).finish, once);
}

}  // namespace
}  // namespace headway
