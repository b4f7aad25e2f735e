#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/costs/collective_cost.h"
#include "sim/costs/profile.h"
#include "sim/network/cluster.h"
#include "sim/programs/workload.h"

namespace headway {

class Domains;

/// What transfers cost beyond the bare wire, in each scope.
struct NetworkCosts {
  double scale_up_efficiency = 1.0;   ///< of the scale-up bandwidth, that a large transfer reaches
  Seconds scale_up_latency;           ///< of a step inside the domain
  Seconds scale_up_overhead;          ///< of a whole collective or message: its launch
  double scale_out_efficiency = 1.0;  ///< of the NIC's rate
  Seconds scale_out_latency;          ///< of a step across the fabric, on top of the path's own
  Seconds scale_out_overhead;         ///< of a whole collective or message that crosses the fabric
  /// What the host takes to post a message and to take one in. An all-to-all then posts all its
  /// messages at once and waits for the slowest; without it, one follows the other as its step
  /// does. No message waits for the way of the one before.
  std::optional<Seconds> message_overhead;
  /// Messages of a rank wait for nothing but links: hardware alone.
  bool posts_at_once = false;
  /// What is for another rail is handed to the accelerator there inside the domain and sent by its
  /// NIC, so that it stays below one leaf switch (NCCL's PXN).
  bool is_rail_local = false;
};

/// As the profile says. What others published of a step beyond a node is less its NICs, and of
/// InfiniBand and RoCE: over another transport it comes later by one message of that, and no more
/// fits through a NIC than it carries. What was measured was measured with the NICs and on the
/// transport that there are. What a connection carries bounds a transfer and a ring; a collective
/// of messages from everybody to everybody has several busy.
[[nodiscard]] NetworkCosts network_costs(const Profile& profile, const NodeType& node,
                                         CollectiveKind kind = CollectiveKind::send_receive);
/// The share of a NIC's rate that the connections which such a collective keeps busy, and
/// encryption, let through; 1 where nothing is known of either.
[[nodiscard]] double share_let_through(const NodeType& node, CollectiveKind kind);
/// Hardware alone: full rates, the latencies of the node type.
[[nodiscard]] NetworkCosts ideal_network_costs(const NodeType& node_type);

/// How much of the network a plan knows.
enum class PlanDetail {
  fabric,   ///< every link it loads, to be shared with other flows
  idle_nic  ///< no links: the rate of its busiest NIC, as on a fabric that is nobody's bottleneck
};

/// Member i of `senders` sends to member i of `receivers`, all at once; the amount of the flow is
/// what one of them sends.
[[nodiscard]] FlowPlan transfer_plan(const Cluster& cluster, const NetworkCosts& costs,
                                     std::span<const std::int32_t> senders,
                                     std::span<const std::int32_t> receivers,
                                     PlanDetail detail = PlanDetail::fabric);

/// Several groups of accelerators that run the same collective at the same time (one for each
/// tensor-parallel index); all of one size.
using CollectiveGroups = std::vector<std::vector<std::int32_t>>;

/// A collective as one flow. Its amount is `collective_volume(kind, algorithm, ranks).bytes_factor`
/// times the message.
///
/// Ring: neighbours in the order given. Where each scale-up domain holds k members, k rings run at
/// once and carry 1/k each, so that every member's NIC is used: NCCL's one ring a rail. Tree
/// (all-reduce): NCCL's double binary tree between domains, a chain inside. In the network
/// (all-reduce): on each rail a tree of switches along the routes to the first domain, on which
/// each link carries a sum once up and once down, and a ring inside. NVLS (all-reduce): the
/// switches of each domain add up, and the double binary tree takes the parts of the sum over the
/// rails. Hierarchical (all-reduce): scattered and gathered around rings inside, reduced around a
/// ring on each rail. All to all: every pair exchanges its share directly.
[[nodiscard]] FlowPlan collective_plan(const Cluster& cluster, const NetworkCosts& costs,
                                       CollectiveKind kind, CollectiveAlgorithm algorithm,
                                       const CollectiveGroups& groups,
                                       PlanDetail detail = PlanDetail::fabric);
/// The same of groups of which it is known how they stand, one `Domains` each.
[[nodiscard]] FlowPlan collective_plan(const Cluster& cluster, const NetworkCosts& costs,
                                       CollectiveKind kind, CollectiveAlgorithm algorithm,
                                       const CollectiveGroups& groups,
                                       std::span<const Domains> domains, PlanDetail detail);
/// How groups stand.
[[nodiscard]] std::vector<Domains> by_domain(const Cluster& cluster,
                                             const CollectiveGroups& groups);

/// What the links of `plan` give a flow of it that is alone on them, `most` at most.
[[nodiscard]] BytesPerSecond rate_on_links(const FlowPlan& plan, const Topology& topology,
                                           BytesPerSecond most);

/// What `plan` takes for `message` bytes when nothing else uses the network: the analytic twin of
/// the simulated collective.
[[nodiscard]] Seconds idle_time(const FlowPlan& plan, const Topology& topology, Bytes amount);

}  // namespace headway
