#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/engine/simulate_workload.h"
#include "sim/programs/flows/collective_price.h"
#include "sim/programs/flows/nccl_doubts.h"

namespace headway {

/// A collective, and whose price it has.
struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<CollectiveAlgorithm> algorithm;  ///< nothing: the faster one for each size
  int ranks = 0;                                 ///< the first ones of the cluster; at least 2
  /// How many groups run it at the same time, `ranks / groups` ranks each; divides `ranks` and
  /// leaves each at least 2.
  int groups = 1;
  bool is_interleaved = false;  ///< rank r is in group r mod groups; else groups are consecutive
  PriceEvidence evidence;
};

/// The accelerators of each group.
[[nodiscard]] CollectiveGroups groups_of(const CollectiveQuestion& question);

/// One line of the table. Units are those of nccl-tests' columns: bandwidths in bytes/s here.
struct CollectiveRow {
  Bytes size;  ///< the message, as nccl-tests counts it
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::string protocol;                ///< of NCCL, or "measured"; else empty
  Seconds time;                        ///< simulated
  BytesPerSecond algorithm_bandwidth;  ///< size / time
  BytesPerSecond bus_bandwidth;        ///< times nccl-tests' factor
  Seconds closed_form;                 ///< of one group, the slowest, with the fabric to itself
  /// Why the times are not to be told, though the model has some; null if they are.
  const NcclDoubt* doubt = nullptr;
};

/// The rows of a table, and what it is about.
struct CollectiveReport {
  std::string cluster;  ///< its name
  int nodes = 1;        ///< that the ranks stand on
  CollectiveLibrary library = CollectiveLibrary::hardware;
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
