#include <gtest/gtest.h>

#include <vector>

#include "sim/predict/collective/collective_table.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/stage_program.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

/// Layers of 3 x 10^6 (qkv) + 10^6 (projection) + 4 x 10^6 (MLP) + 2,000 (norms) parameters: their
/// fp32 gradients are a message of 32,008,000 B.
constexpr Bytes kLayer(32'008'000);
Model layers_of_a_thousand(int layers) {
  TransformerModel fields = thousand_parameter_fields(layers);
  fields.hidden = 1000;
  fields.head_size = 1000;
  fields.ffn_hidden = 2000;
  return layers_of(fields);
}

/// Of the middle one of three layers, as simulated by a job that does nothing else.
double reduction_in_training(const Cluster& cluster, const Profile& profile,
                             CollectiveLibrary library, Sharding sharding) {
  const Strategy strategy{.data_parallel = cluster.accelerators(),
                          .global_batch = cluster.accelerators(),
                          .sequence_length = 64,
                          .sharding = sharding,
                          .collective_library = library};
  const Placement placement{.data = strategy.data_parallel};
  const Workload workload =
      build_workload({layers_of_a_thousand(3), strategy, profile, cluster, placement, std::nullopt})
          .workload;
  std::vector<Operation> reductions;
  const std::int32_t place = workload.programs.front().place_of(kGradientReduce);
  for (const Operation& operation : workload.programs.front().operations) {
    const bool reduces = operation.kind == OperationKind::join && operation.path == place;
    if (reduces) reductions.push_back(operation);
  }
  EXPECT_GE(reductions.size(), 3U);
  const Operation& middle = reductions[reductions.size() / 2];
  const std::int32_t communicator =
      workload.groups.front().communicators.at(static_cast<std::size_t>(place));
  const std::int32_t plan =
      workload.communicators[static_cast<std::size_t>(communicator)].plan + middle.way;
  return idle_time(workload.plans[static_cast<std::size_t>(plan)], cluster.topology, middle.amount)
      .count();
}

/// As `headway collective` says.
double simulated_collective(const Cluster& cluster, const Profile& profile,
                            CollectiveLibrary library, CollectiveKind kind) {
  const CollectiveQuestion question{.kind = kind,
                                    .ranks = cluster.accelerators(),
                                    .evidence = {.library = library, .profile = &profile}};
  return collective_table(cluster, question, {kLayer}, {}, 1).front().time.count();
}

TEST(OnePrice, AReductionOfTrainingTakesWhatTheCollectiveCommandSays) {
  Profile profile = round_profile();
  profile.accelerator = "h100-sxm";
  profile.scale_up.latency = estimate(1e-6);
  profile.scale_out.latency = estimate(3e-6);
  profile.scale_out.overhead = estimate(5e-6);
  profile.scale_out.bandwidth_efficiency = estimate(0.9);
  for (const int nodes : {1, 2, 4}) {
    const auto cluster =
        cluster_of(ClusterText{.nodes = nodes, .accelerators = 4, .nics = 4}.text());
    for (const CollectiveLibrary library : {CollectiveLibrary::profile, CollectiveLibrary::nccl}) {
      for (const Sharding sharding : {Sharding::none, Sharding::optimizer}) {
        const CollectiveKind kind = sharding == Sharding::none ? CollectiveKind::all_reduce
                                                               : CollectiveKind::reduce_scatter;
        const double asked = simulated_collective(*cluster, profile, library, kind);
        EXPECT_NEAR(reduction_in_training(*cluster, profile, library, sharding) / asked, 1.0, 1e-9)
            << nodes << " nodes, " << collective_name(kind);
      }
    }
  }
}

// Chunks go from rank to rank however idle the links are: a group by itself takes what its closed
// form says, of a broadcast too.
TEST(OnePrice, AGroupByItselfIsNoFasterThanItsClosedForm) {
  const auto cluster = cluster_of(ClusterText{.nodes = 16, .accelerators = 4, .nics = 4}.text());
  Profile profile = round_profile();
  profile.accelerator = "h100-sxm";
  for (const CollectiveKind kind :
       {CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_gather}) {
    for (const CollectiveLibrary library : {CollectiveLibrary::profile, CollectiveLibrary::nccl}) {
      const CollectiveQuestion question{
          .kind = kind, .ranks = 64, .evidence = {.library = library, .profile = &profile}};
      for (const CollectiveRow& row :
           collective_table(*cluster, question, {1_MB, 64_MB, 1_GB}, {}, 1)) {
        EXPECT_NEAR(row.time / row.closed_form, 1.0, 1e-9)
            << collective_name(kind) << " of " << row.size.count();
      }
    }
  }
}

TEST(OnePrice, WhatWasMeasuredIsWhatTrainingPays) {
  Profile profile = round_profile();
  profile.scale_up.collectives = {
      {.kind = CollectiveKind::all_reduce,
       .ranks = 4,
       .curve = {.points = {{1_MB, 20_us}, {100_MB, 1_ms}}, .spread = 0.0, .source = "test"}}};
  const auto cluster = cluster_of(ClusterText{.nodes = 1, .accelerators = 4, .nics = 4}.text());
  // 20 us and 31.008 of the 99 MB further on, 980 us for all of them.
  const double measured = 20e-6 + 31.008 / 99.0 * 980e-6;
  EXPECT_NEAR(reduction_in_training(*cluster, profile, CollectiveLibrary::profile, Sharding::none) /
                  measured,
              1.0, 1e-9);
  EXPECT_NEAR(simulated_collective(*cluster, profile, CollectiveLibrary::profile,
                                   CollectiveKind::all_reduce) /
                  measured,
              1.0, 1e-9);
}

}  // namespace
}  // namespace headway
