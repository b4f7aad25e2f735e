#pragma once

#include <set>
#include <span>
#include <vector>

#include "sim/engine/max_min_shares.h"
#include "sim/network/topology.h"
#include "sim/programs/workload.h"

namespace headway {

/// The links that the plans of a workload load, each only once: links that the very same plans use
/// with the very same weights bind alike, so of each such class only the tightest is kept. That is
/// exact whatever flows are active (the others can never be the bottleneck), and folds, say, the
/// eight rails of a rail-optimised fabric into one. Nor is a link kept if all that use it take at
/// least as large a share of some other one: that one binds first, whatever flows are active. Ports
/// that plans share are links too, numbered behind those of the topology.
///
/// Weights are counted in units of the plan: whole numbers of streams on each link, where a stream
/// carries `unit` bytes for each byte of the flow. Links are shared out between streams, as NICs
/// and switches do it: a collective whose rings run over eight rails has on each of them the same
/// share as a transfer that crosses only that one.
struct LinkUsage {
  std::vector<double> capacities;                     ///< bytes/s, by kept link
  std::vector<std::vector<MaxMinShares::Use>> plans;  ///< what each plan uses of the kept links
  std::vector<double> units;                          ///< of each plan
  std::vector<LinkId> kept;                           ///< a member of each class, ascending
};

/// Of the capacity of a link at a NIC only the share `nic_efficiency` is there, for all flows
/// together. Links of `kept_apart` are never folded: their capacity changes.
[[nodiscard]] LinkUsage link_usage(std::span<const FlowPlan> plans, const Topology& topology,
                                   bool fold_equal_links, double nic_efficiency,
                                   const std::set<LinkId>& kept_apart = {});

}  // namespace headway
