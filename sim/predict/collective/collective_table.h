#pragma once

#include <string>
#include <vector>

#include "sim/engine/simulate_workload.h"
#include "sim/predict/collective/collective_choices.h"

namespace headway {

/// One line of the table. Units are those of nccl-tests' columns: bandwidths in bytes/s here.
struct CollectiveRow {
  Bytes size;  ///< the message, as nccl-tests counts it
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::string protocol;                ///< of NCCL; empty with other costs
  Seconds time;                        ///< simulated
  BytesPerSecond algorithm_bandwidth;  ///< size / time
  BytesPerSecond bus_bandwidth;        ///< times nccl-tests' factor
  Seconds closed_form;                 ///< of one group, the slowest, on an idle network
};

/// The rows of a table, and what it is about.
struct CollectiveReport {
  std::string cluster;  ///< its name
  int nodes = 1;        ///< that the ranks stand on
  CollectiveCosts costs = CollectiveCosts::hardware;
  std::string profile;  ///< its name, with the costs of one
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 0;   ///< of a group
  int groups = 1;  ///< that run at once
  std::vector<CollectiveRow> rows;
};

/// A sweep over message sizes as nccl-tests runs it: each size by whatever of the choices is
/// fastest on an idle network. Requires that there is a choice.
[[nodiscard]] std::vector<CollectiveRow> collective_table(const Cluster& cluster,
                                                          const CollectiveQuestion& question,
                                                          const std::vector<Bytes>& sizes,
                                                          const EngineOptions& engine, int jobs);

}  // namespace headway
