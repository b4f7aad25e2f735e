#pragma once

#include "sim/costs/profile.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/stage_program.h"

namespace headway {

/// Iterations that are simulated of a job whose workers are not in step: the last of them is what
/// it takes once it has settled.
inline constexpr int kIterationsOutOfStep = 16;

/// Accelerators that are one worker: those of a scale-up domain that can add up among themselves,
/// or each by itself. Requires a job of servers.
[[nodiscard]] int accelerators_of_worker(const Strategy& strategy, const Cluster& cluster);

/// Where a job of servers stands.
struct ServedJob {
  const JobShape& shape;
  const Profile& profile;
  const Cluster& cluster;
  const Placement& placement;
  const NetworkCosts& network;
  /// What the ranks of a worker take to add up gradients, each way; nothing for a single one.
  const PricedCollective* local_reduction = nullptr;
};

/// Lays out a job whose replicas push gradients to servers and pull parameters from them (Li et al.
/// 2014, "Scaling Distributed Machine Learning with the Parameter Server"): groups, their program,
/// servers, and the flows between them. A bucket of gradients is a key; every server holds an equal
/// part of each (as ps-lite cuts what is large, and BytePS all), and its host's memory is what
/// adding up and updating take: with s bytes of a gradient and p of a parameter
///
///   add up (4 + s + 4) / memory, for every push; update (28 + p) / memory
///
/// for a parameter, of the memory that all accelerators of a host share: the sum is read and
/// written in fp32, and Adam moves what optimizer_cost.h says. A worker pushes a key as soon as its
/// gradients are there, with `overlap_gradient_reduce`, and begins the next step when all keys are
/// back.
///
/// A worker that pushes every H steps only (`push_every`) updates its own parameters at each, and
/// pushes behind the last what it learned, all of it as one key: parameters come back when all that
/// the round waits for is there. An iteration is one step, a period scaled by 1 / H: all
/// that pushes take, bytes, latencies and the servers' work, is an H-th, which leaves who waits for
/// whom as it is, since all times of a period are scaled alike.
///
/// In step, such a period is a round of federated averaging (McMahan et al. 2017,
/// arXiv:1602.05629): W clients are sampled and k of them not waited for, so that it takes, with
/// the (W - k)-th smallest f of their time factors, H steps of t and b bits a parameter on n of
/// them
///
///   H f t + n b_up / 8 uplink + add up + update + n b_down / 8 downlink
///
/// or what their meeting at the servers' NICs makes of the two links.
void lay_out_servers(const ServedJob& job, Workload& workload);

}  // namespace headway
