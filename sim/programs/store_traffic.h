#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/cluster.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/workload.h"

namespace headway {

/// A store of samples and checkpoints, as flows see it: a link more, on which flows are as fast as
/// each other, and which is full when the shares that each takes of its own rate alone add up to 1.
struct Store {
  const Cluster& cluster;
  const NetworkCosts& network;
  int hosts = 0;  ///< the last nodes of the cluster, over which everything is spread; 0: it stands
                  ///< on a network of its own
};

/// What a plan's ports are called for the store, until `joint_workload` knows a number for it.
inline constexpr std::int32_t kStorePort = -1;

/// Which way bytes go.
enum class StoreAccess { read, write };

/// From all hosts of the store to an accelerator, or back, an equal part each, by the hosts' NICs
/// on its rail. `rate` is what the store alone can do of such bytes.
[[nodiscard]] FlowPlan store_plan(const Store& store, std::int32_t accelerator, StoreAccess access,
                                  BytesPerSecond rate);

/// What a job reads before each of its steps: every rank group of the first stage its part.
struct StoreReads {
  std::vector<FlowPlan> plans;  ///< by rank group; those of other stages are not used
  Bytes amount;                 ///< of a rank group, at every step
  int ahead = 1;                ///< steps whose samples wait in memory at most
};

/// `batch` is of the whole job, of which every replica takes an equal part by the NIC of the first
/// accelerator of its first rank group. An empty batch is there at once.
[[nodiscard]] StoreReads store_reads(const Workload& job, const Store& store, Bytes batch,
                                     BytesPerSecond rate, int ahead);

/// The ranks of a job write `bytes` together, `most` of them a second, beside whatever else they
/// do: a workload of its own, of which an iteration is those bytes. `job` says where it stands.
[[nodiscard]] Workload store_writes(const Workload& job, const Store& store, Bytes bytes,
                                    BytesPerSecond rate, BytesPerSecond most);

/// Makes the `iterations` iterations of `groups` in a workload wait for their samples: behind all
/// groups stands one for each of these that reads for it. With samples of `ahead` steps waiting it
/// reads no more until the next step begins; it reads one step's after another's.
void add_readers(Workload& workload, std::int32_t first_group, std::int32_t end_group,
                 int iterations, const StoreReads& reads);

}  // namespace headway
