#pragma once

#include <cstdint>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// How many layers each chunk of a pipeline has that a search looks at, in the order of the model:
/// as the scenario says where it has as many stages and chunks; nothing, and so whatever the
/// placement of layers says, where nodes are of one kind.
///
/// Where stages stand on nodes of several kinds, so that the slowest stage is through soonest by
/// the peak of the slowest accelerator of each, one layer a chunk at least. The job runs on the
/// first `accelerators` of the cluster, stages one after the other; in another order of ranks, and
/// with layers that do not count as others do, nothing is said.
[[nodiscard]] std::vector<int> searched_layers(const Scenario& scenario, const Strategy& strategy,
                                               std::int64_t accelerators);

}  // namespace headway
