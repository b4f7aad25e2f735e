#include "sim/programs/closed_form.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hand_workload.h"
#include "sim/jobs/strategy.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/support/random_job.h"

namespace headway {
namespace {

double simulated_time(const RandomJob& job) {
  return simulate_workload(job.workload(), job.cluster->topology, job.perturbation, {}).finish;
}

double closed_form(const RandomJob& job) {
  return closed_form_iteration(job.model, job.strategy, job.profile, *job.cluster, job.placement,
                               job.perturbation)
      .count();
}

/// A job whose flows have the network to themselves: a switch that blocks nobody, a NIC each, equal
/// ranks, and nodes inside which those exchange that share a layer.
RandomJob uncontended_job(std::uint64_t seed) {
  RandomJob job = random_job(seed);
  job.perturbation = {};
  job.cluster_text.accelerators =
      std::max(job.cluster_text.accelerators, 2 * job.strategy.tensor_parallel);
  job.cluster_text.nics = job.cluster_text.accelerators;
  job.cluster_text.fabric = ClusterText{}.fabric;
  job.cluster_text.nodes *= 2;  // room for a second stage
  job.build_cluster();
  return job;
}

/// The same in one replica of two stages: nobody sends, or receives, two things at once.
RandomJob two_stage_job(std::uint64_t seed) {
  RandomJob job = uncontended_job(seed);
  Strategy& strategy = job.strategy;
  strategy.pipeline_parallel = 2;
  strategy.virtual_stages = 1;
  strategy.data_parallel = strategy.context_parallel = 1;
  strategy.global_batch = 6;
  strategy.sharding = Sharding::none;
  job.fields.layers += job.fields.layers % 2;
  job.model = layers_of(job.fields);
  job.placement.pipeline = 2;
  job.placement.data = job.placement.context = 1;
  return job;
}

/// The same in replicas of one stage, whose collectives follow each other.
RandomJob one_stage_job(std::uint64_t seed) {
  RandomJob job = uncontended_job(seed);
  job.strategy.pipeline_parallel = job.strategy.virtual_stages = 1;
  job.placement.pipeline = 1;
  return job;
}

constexpr std::uint64_t kClosedFormJobs = 60;

/// Relative difference from the simulation.
double difference(const RandomJob& job) { return closed_form(job) / simulated_time(job) - 1.0; }

TEST(ClosedForm, IsTheSimulationOfAPipelineWhoseTransfersAreAlone) {
  for (std::uint64_t seed = 1; seed <= kClosedFormJobs; ++seed) {
    const RandomJob job = two_stage_job(seed);
    EXPECT_NEAR(difference(job), 0.0, 1e-9) << "seed " << seed;
  }
}

TEST(ClosedForm, IsTheSimulationOfReplicasWhoseCollectivesFollowEachOther) {
  for (std::uint64_t seed = 1; seed <= kClosedFormJobs; ++seed) {
    const RandomJob job = one_stage_job(seed);
    EXPECT_NEAR(difference(job), 0.0, 1e-9) << "seed " << seed;
  }
}

/// A rank group that joins a collective of 100 GB on each of two plans and waits for both.
Workload two_collectives(FlowPlan first, FlowPlan second) {
  Workload workload;
  workload.plans = {std::move(first), std::move(second)};
  Program program{.name = "both", .collective_slots = 2};
  for (const std::int32_t i : {0, 1}) {
    workload.plans[static_cast<std::size_t>(i)].crosses_fabric = true;
    workload.communicators.push_back(
        {.name = "gradients", .kind = CollectiveKind::all_reduce, .members = 1, .plan = i});
    program.operations.push_back(
        {.kind = OperationKind::join, .path = i, .slot = i, .amount = 100_GB});
  }
  for (const std::int32_t i : {0, 1}) {
    program.operations.push_back({.kind = OperationKind::wait, .slot = i});
  }
  workload.programs = {std::move(program)};
  workload.groups = {{.accelerators = {0}, .communicators = {0, 1}}};
  return workload;
}

TEST(ClosedForm, WhatFillsHalfOfANicLeavesTheOtherHalf) {
  // A NIC of 20 GB/s. Twice around a ring, 100 GB take it for 10 s. Once, at the 10 GB/s that the
  // ports of its members carry, they take half of it for 10 s. Together that is 10 + 5 s of the
  // NIC, whichever comes first; two of the former are 20 s.
  const Topology topology = star({0_s, 0_s}, 20_GBps);
  const FlowPlan twice{.links = {{0, 2.0}, {3, 2.0}}};
  const FlowPlan once{.links = {{0, 1.0}, {3, 1.0}}, .rate_cap = 10_GBps};
  struct Case {
    FlowPlan first, second;
    double seconds;
  };
  for (const auto& [first, second, seconds] :
       {Case{twice, once, 15.0}, {once, twice, 15.0}, {twice, twice, 20.0}, {once, once, 10.0}}) {
    const Workload workload = two_collectives(first, second);
    EXPECT_NEAR(closed_form_time(workload, topology).count(), seconds, 1e-9);
    EXPECT_NEAR(simulate_workload(workload, topology, {}, {}).finish, seconds, 1e-9);
    // Where no link is known, what its NICs carry is.
    Workload idle = workload;
    for (FlowPlan& plan : idle.plans) {
      plan.nic_rate = plan.links.front().weight == 2.0 ? 10_GBps : 20_GBps;
      plan.rate_cap = 10_GBps;
      plan.links.clear();
    }
    EXPECT_NEAR(closed_form_time(idle, topology).count(), seconds, 1e-9);
  }
}

TEST(ClosedForm, IsNearTheSimulationWhereFlowsOfOneRankShareItsNic) {
  // Activations beside gradients: they share the NIC there, and nobody waits here. The jobs
  // are on 5 GB/s NICs, so that transfers are most of some of them.
  int far = 0;
  for (std::uint64_t seed = 1; seed <= kClosedFormJobs; ++seed) {
    const double error = std::abs(difference(uncontended_job(seed)));
    EXPECT_LT(error, 0.2) << "seed " << seed;
    if (error > 0.01) ++far;
  }
  EXPECT_LE(far, 6);
}

TEST(ClosedForm, StretchesBlocksByTheSlowestDevice) {
  RandomJob job = uncontended_job(3);
  const double even = closed_form(job);
  job.perturbation.device_spread = 0.05;
  // Half of all runs have a device slower than exp(0.05 * quantile(0.5^(1/n))).
  const double slowest = median_of_slowest(0.05, job.strategy.ranks());
  EXPECT_LE(closed_form(job), slowest * even * (1.0 + 1e-12));
  EXPECT_GT(closed_form(job), even);
}

TEST(ClosedForm, FollowsTheSlowestListedReplica) {
  for (std::uint64_t seed = 1; seed <= kClosedFormJobs; ++seed) {
    RandomJob job = one_stage_job(seed);
    const double even = closed_form(job);
    job.perturbation.slow_accelerators = {{job.strategy.ranks() - 1, 1.5}, {0, 1.25}};
    EXPECT_NEAR(difference(job), 0.0, 1e-9) << "seed " << seed;
    EXPECT_GT(closed_form(job), even) << "seed " << seed;
  }
}

TEST(ClosedForm, StretchesTheStageThatIsSlow) {
  for (std::uint64_t seed = 1; seed <= kClosedFormJobs; ++seed) {
    RandomJob job = two_stage_job(seed);
    job.perturbation.slow_accelerators = {{job.strategy.ranks() - 1, 2.0}};
    EXPECT_NEAR(difference(job), 0.0, 1e-9) << "seed " << seed;
  }
}

TEST(MedianOfSlowest, IsTheQuantileOfTheMaximum) {
  EXPECT_EQ(median_of_slowest(0.0, 100), 1.0);
  EXPECT_NEAR(median_of_slowest(0.1, 1), 1.0, 1e-12);
  // quantile(0.5^(1/2)) = quantile(0.70711) = 0.54495
  EXPECT_NEAR(median_of_slowest(0.1, 2), 1.0560, 1e-4);
}

}  // namespace
}  // namespace headway
