#pragma once

#include <optional>
#include <vector>

#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/network/placement.h"
#include "sim/network/read_topology.h"

namespace headway {

/// Where a job runs.
struct ReadCluster {
  ReadTopology topology;
  std::vector<ParallelDimension> order;  ///< of its ranks, innermost first
  std::optional<int> job_nodes;          ///< that it takes; all, if nobody says
  JsonValue resolved;

  [[nodiscard]] const Cluster& cluster() const { return *topology.cluster; }
  /// Those of the nodes that the job takes.
  [[nodiscard]] int accelerators() const {
    return job_nodes.value_or(cluster().nodes) * cluster().node_type.accelerators;
  }
};

/// Reads the "cluster" of a scenario: a topology, or an object with one and what the job takes of
/// it. Nothing if there is no topology that can be used.
[[nodiscard]] std::optional<ReadCluster> read_cluster(const JsonCursor& part, InputFiles& files);

}  // namespace headway
