#pragma once

#include <optional>

#include "sim/costs/profile.h"
#include "sim/jobs/strategy.h"
#include "sim/models/transformer.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/stage_costs/stage_cost.h"
#include "sim/programs/workload.h"

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
