#pragma once

#include <map>
#include <optional>

#include "sim/costs/kind_profiles.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/stage_costs/stage_cost.h"
#include "sim/programs/workload.h"

namespace headway {

struct KnownJobs;
struct Strategy;

struct BuiltWorkload {
  Workload workload;
  StageCost cost;  ///< of the first rank group, with the widest spread of all
};

/// How much of the job is laid out.
enum class WorkloadExtent {
  whole,       ///< every rank group, every link
  one_replica  ///< of replicas that stand alike one, on idle NICs: enough for the closed form
};

/// A training job on a cluster, all of which outlives the building.
struct JobToBuild {
  const Model& model;
  const Strategy& strategy;
  const KindProfiles& profiles;
  const Cluster& cluster;
  const Placement& placement;  ///< its degrees are the strategy's
  /// As which gradients run where their collective has it.
  std::optional<CollectiveAlgorithm> algorithm = std::nullopt;
  WorkloadExtent extent = WorkloadExtent::whole;
  /// Keeps what the next strategy of the same model on the same cluster, with the same profiles,
  /// may have in common.
  KnownJobs* known = nullptr;
  /// Time factors of those that are listed as slow, by global index, for micro-batches that are
  /// shared out by speed.
  const std::map<int, double>* slow_accelerators = nullptr;
};

/// Turns a training job into programs, rank groups, communicators and the flows between them. What
/// replicas exchange costs what `PricedCollective` says by the strategy's collective_library. Ranks
/// in nodes of several kinds take what their own kind's profile says; what several kinds do
/// together goes at the pace of the slowest.
[[nodiscard]] BuiltWorkload build_workload(const JobToBuild& job);

}  // namespace headway
