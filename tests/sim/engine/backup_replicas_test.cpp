#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/engine/hand_workload.h"
#include "tests/sim/engine/single_iteration.h"

namespace headway {
namespace {

/// Replicas that compute for a second and then exchange something in no time; nobody waits for the
/// last `backups`.
Workload replicas(int count, int backups) {
  Workload workload;
  Program program{.name = "replica", .collective_slots = 1};
  program.blocks = {{"work", time_of(Cause::compute, 1_s)}};
  program.operations = {{.kind = OperationKind::compute, .block = 0},
                        {.kind = OperationKind::join, .path = 0, .slot = 0, .amount = 1_GB},
                        {.kind = OperationKind::wait, .slot = 0}};
  workload.programs = {program};
  workload.plans = {FlowPlan{}};
  workload.communicators = {
      {.name = "gradient reduce", .members = count, .plan = 0, .backups = backups}};
  for (std::int32_t i = 0; i < count; ++i) {
    workload.groups.push_back({.replica = i, .accelerators = {i}, .communicators = {0}});
  }
  workload.backup_replicas = backups;
  return workload;
}

double finish(const Workload& workload, const Perturbation& perturbation) {
  return simulate_workload(workload, Topology(), perturbation).finish;
}

TEST(BackupReplicas, NobodyWaitsForTheSlowest) {
  const Perturbation slow{.slow_accelerators = {{1, 3.0}, {2, 1.5}}};
  EXPECT_DOUBLE_EQ(finish(replicas(4, 0), slow), 3.0);
  EXPECT_DOUBLE_EQ(finish(replicas(4, 1), slow), 1.5);
  EXPECT_DOUBLE_EQ(finish(replicas(4, 2), slow), 1.0);
}

TEST(BackupReplicas, TheKthOfNJitteredReplicasDecides) {
  // Order statistics of n exponential variables (Renyi): the b + 1-th largest has the mean sum of 1
  // / i and the variance sum of 1 / i^2 for i from b + 1 to n. Compute takes 1 + the variable.
  constexpr int kReplicas = 8;
  constexpr int kDraws = 400;
  for (const int backups : {0, 1, 3}) {
    const Workload workload = replicas(kReplicas, backups);
    std::vector<SimulationTask> tasks;
    const Topology nothing;
    for (int i = 0; i < kDraws; ++i) {
      tasks.push_back({&workload,
                       &nothing,
                       {.seed = static_cast<std::uint64_t>(i),
                        .jitter = {.kind = Jitter::Kind::exponential, .spread = 1.0}}});
    }
    double sum = 0.0;
    for (const double time : simulated_times(tasks, {}, 2)) sum += time;
    double mean = 1.0;
    double variance = 0.0;
    for (int i = backups + 1; i <= kReplicas; ++i) {
      mean += 1.0 / i;
      variance += 1.0 / (i * i);
    }
    EXPECT_NEAR(sum / kDraws, mean, 4.0 * std::sqrt(variance / kDraws)) << backups;
  }
}

}  // namespace
}  // namespace headway
