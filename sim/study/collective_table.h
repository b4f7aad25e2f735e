#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/engine/simulate_workload.h"
#include "sim/profile/collective_cost.h"
#include "sim/profile/profile.h"

namespace headway {

/// A sweep of one collective over message sizes, as nccl-tests runs it.
struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<CollectiveAlgorithm> algorithm;  ///< nothing: the faster one for each size
  int ranks = 0;                                 ///< the first ones of the cluster; at least 2
  /// That run it at the same time, `ranks / groups` ranks each; divides `ranks` and leaves each at
  /// least 2.
  int groups = 1;
  bool is_interleaved = false;  ///< rank r is in group r mod groups; else groups are consecutive
  std::vector<Bytes> sizes;     ///< messages as nccl-tests counts them
  const Profile* profile = nullptr;  ///< nothing: hardware alone
  EngineOptions engine;
};

/// One line of the table. Units are those of nccl-tests' columns: bandwidths in bytes/s here.
struct CollectiveRow {
  Bytes size;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  Seconds time;                        ///< simulated
  BytesPerSecond algorithm_bandwidth;  ///< size / time
  BytesPerSecond bus_bandwidth;        ///< times nccl-tests' factor
  Seconds closed_form;                 ///< of one group, the slowest, on an idle network
};

[[nodiscard]] std::vector<CollectiveRow> collective_table(const Cluster& cluster,
                                                          const CollectiveQuestion& question,
                                                          int jobs);

}  // namespace headway
