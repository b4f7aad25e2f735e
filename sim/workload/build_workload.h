#pragma once

#include <optional>

#include "sim/cluster/cluster.h"
#include "sim/cluster/placement.h"
#include "sim/model/transformer.h"
#include "sim/profile/profile.h"
#include "sim/strategy/strategy.h"
#include "sim/workload/stage_cost.h"
#include "sim/workload/workload.h"

namespace headway {

struct BuiltWorkload {
  Workload workload;
  StageCost cost;
  CollectiveAlgorithm reduce_algorithm = CollectiveAlgorithm::ring;
};

/// How much of the job is laid out.
enum class WorkloadExtent {
  whole,       ///< every rank group, every link
  one_replica  ///< the groups of the first replica on idle NICs: enough for the closed form
};

/// Turns a training job into programs, rank groups, communicators and the flows between them. The
/// gradient all-reduce runs as `algorithm`, or as whichever of ring and tree is faster on the idle
/// network. `placement`'s degrees are the strategy's.
[[nodiscard]] BuiltWorkload build_workload(const TransformerModel& model, const Strategy& strategy,
                                           const Profile& profile, const Cluster& cluster,
                                           const Placement& placement,
                                           std::optional<CollectiveAlgorithm> algorithm,
                                           WorkloadExtent extent = WorkloadExtent::whole);

}  // namespace headway
