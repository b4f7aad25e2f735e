#include "sim/programs/flows/nccl_costs.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kSimpleMessages = 3.0;  ///< message overheads in a step of Simple, by NCCL's model

/// Costs of one algorithm and protocol on nodes of one type: as they are, or as NCCL believes.
class Costing {
 public:
  Costing(const NodeType& node_type, CollectiveKind kind, const NcclPlace& place, bool is_belief)
      : node_(node_type),
        transport_(is_belief ? TransportCosts{.goodput = 1.0} : node_type.transport.costs),
        inside_(nccl_node_costs(node_type.accelerator)),
        kind_(kind),
        place_(place),
        is_belief_(is_belief),
        is_amd_(node_type.processor == HostProcessor::amd) {
    HEADWAY_CHECK(inside_ != nullptr, "no constants of this accelerator");
  }

  [[nodiscard]] NetworkCosts ring(NcclProtocol protocol) const {
    NetworkCosts costs = base(protocol);
    const NcclNetworkCosts network = nccl_network_costs(protocol);
    // With one rank a node NCCL counts a tree's steps.
    costs.scale_out_latency =
        (place_.largest_domain == 1 ? network.tree_step : network.ring_step) + later(protocol);
    if (place_.domains == 1) return costs;
    const bool is_simple = protocol == NcclProtocol::simple;
    // Every step of a ring crosses the network somewhere, so none is faster than its messages.
    const Seconds message =
        is_belief_ ? nccl_message_overhead(is_amd_) : nccl_step_overhead(is_amd_);
    if (is_belief_) {
      costs.scale_up_latency =
          max(costs.scale_up_latency, (is_simple ? kSimpleMessages : 1.0) * message);
    } else {
      costs.scale_up_latency = max(costs.scale_up_latency, message) + network.ring_step_inside;
    }
    if (is_simple && kind_ == CollectiveKind::all_reduce) {
      costs.scale_up_latency = inside_->ring_plateau * costs.scale_up_latency;
      costs.scale_out_latency = inside_->ring_plateau * costs.scale_out_latency;
    }
    return costs;
  }

  [[nodiscard]] NetworkCosts tree(NcclProtocol protocol) const {
    NetworkCosts costs = base(protocol);
    costs.scale_out_latency = nccl_network_costs(protocol).tree_step + later(protocol);
    costs.scale_out_efficiency *= kNcclTreeEfficiency;
    if (place_.domains == 1) return costs;
    if (!is_belief_) costs.scale_up_latency += nccl_network_costs(protocol).tree_step_inside;
    const BytesPerSecond channels = std::min(nics_of_domain(), kNcclMostTreeChannels) *
                                    nccl_tree_channel(node_.accelerator, place_.domains);
    // Where a domain is one rank nothing else bounds its flow.
    if (place_.largest_domain > 1) {
      costs.scale_up_efficiency =
          std::min(costs.scale_up_efficiency, channels / node_.scale_up_bandwidth);
    }
    return costs;
  }

  [[nodiscard]] NetworkCosts nvls() const {
    NetworkCosts costs = base(NcclProtocol::simple);
    costs.scale_out_latency =
        nccl_network_costs(NcclProtocol::simple).tree_step + later(NcclProtocol::simple);
    costs.scale_out_efficiency *= kNcclTreeEfficiency;
    costs.scale_out_efficiency =
        std::min(costs.scale_out_efficiency, transport_.goodput * kNcclSwitchTreeBandwidth /
                                                 (nics_of_domain() * node_.nic_bandwidth));
    costs.scale_up_efficiency = inside_->switch_efficiency;
    costs.scale_up_overhead = inside_->overhead + inside_->switch_overhead;
    costs.scale_out_overhead = costs.scale_up_overhead;
    return costs;
  }

  [[nodiscard]] NetworkCosts parallel_trees() const {
    NetworkCosts costs = base(NcclProtocol::simple);
    costs.scale_out_latency = kNcclParallelTrees.step + later(NcclProtocol::simple);
    costs.scale_out_overhead += static_cast<double>(place_.domains) * kNcclParallelTrees.rank;
    costs.scale_out_efficiency *= kNcclParallelTrees.efficiency;
    return costs;
  }

  [[nodiscard]] NetworkCosts messages() const {
    NetworkCosts costs = base(NcclProtocol::simple);
    // Tables of one node show the overhead of a low-latency protocol for them.
    costs.scale_up_overhead = inside_->overhead;
    costs.scale_out_overhead = inside_->overhead;
    costs.scale_out_latency =
        nccl_network_costs(NcclProtocol::simple).tree_step + transport_.message_latency;
    costs.message_overhead = nccl_message_overhead(is_amd_) + transport_.posting;
    costs.is_rail_local = place_.is_rail_local;
    return costs;
  }

 private:
  [[nodiscard]] NetworkCosts base(NcclProtocol protocol) const {
    const NcclNetworkCosts network = nccl_network_costs(protocol);
    const bool is_simple = protocol == NcclProtocol::simple;
    NetworkCosts costs;
    costs.scale_up_efficiency = inside_->efficiency * share_of_ring(protocol);
    if (protocol == NcclProtocol::ll && place_.domains > 1 && place_.largest_domain > 1) {
      costs.scale_up_efficiency =
          std::min(costs.scale_up_efficiency,
                   nccl_ll_bandwidth(place_.domains, is_amd_) / node_.scale_up_bandwidth);
    }
    costs.scale_up_latency = inside_->step;
    costs.scale_up_overhead =
        is_simple ? inside_->overhead + inside_->simple_overhead : inside_->overhead;
    costs.scale_out_overhead = costs.scale_up_overhead + network.overhead;
    costs.scale_out_efficiency = network.efficiency * share_of_nic();
    return costs;
  }

  /// What the protocol reaches of the rate of a ring inside a node.
  [[nodiscard]] double share_of_ring(NcclProtocol protocol) const {
    if (protocol == NcclProtocol::simple) return 1.0;
    const bool is_of_lines = protocol == NcclProtocol::ll128 && place_.domains > 1 && !is_belief_;
    return is_of_lines ? kNcclLineShare : kNcclLowLatencyShare;
  }

  /// The share of its rate that a NIC sends by one connection to a neighbour, or by more to
  /// several.
  [[nodiscard]] double share_of_nic() const {
    const bool has_many = is_of_messages(kind_) && kind_ != CollectiveKind::send_receive;
    const double share = transport_.goodput * (has_many ? transport_.spread_share : 1.0) *
                         std::min(1.0, node_.nic_bus_bandwidth / node_.nic_bandwidth);
    return is_belief_ ? share : std::min(share, share_let_through(node_, kind_));
  }

  /// By how much a step comes later than over InfiniBand.
  [[nodiscard]] Seconds later(NcclProtocol protocol) const {
    return transport_.encryption_latency + (protocol == NcclProtocol::simple
                                                ? transport_.bulk_latency
                                                : transport_.message_latency);
  }

  [[nodiscard]] int nics_of_domain() const {
    const int nodes = (place_.largest_domain + node_.accelerators - 1) / node_.accelerators;
    return std::min(nodes * node_.nics, place_.largest_domain * node_.nics_of_accelerator);
  }

  const NodeType& node_;
  TransportCosts transport_;
  const NcclNodeCosts* inside_;
  CollectiveKind kind_;
  const NcclPlace& place_;
  bool is_belief_;
  bool is_amd_;
};

bool carries(const TransportCosts& transport, NcclProtocol protocol) {
  if (protocol == NcclProtocol::ll) return transport.carries_flags;
  return protocol == NcclProtocol::simple || transport.carries_lines;
}

}  // namespace

bool knows_nccl_over(TransportKind transport) { return transport != TransportKind::other; }

std::vector<NcclChoice> nccl_choices(const NodeType& node_type, CollectiveKind kind,
                                     const NcclPlace& place) {
  HEADWAY_CHECK(knows_nccl_over(node_type.transport.kind), "nothing is known of the transport");
  const Costing real(node_type, kind, place, false);
  const Costing belief(node_type, kind, place, true);
  if (is_of_messages(kind)) {
    return {{.costs = real.messages(), .believed = belief.messages()}};
  }
  const NcclNodeCosts& inside = *nccl_node_costs(node_type.accelerator);
  std::vector<NcclChoice> choices;
  for (const NcclProtocol protocol : kNcclProtocols) {
    if (place.domains > 1 && !carries(node_type.transport.costs, protocol)) continue;
    choices.push_back({.algorithm = CollectiveAlgorithm::ring,
                       .protocol = protocol,
                       .costs = real.ring(protocol),
                       .large_share = protocol == NcclProtocol::simple
                                          ? inside.efficiency / inside.large_efficiency
                                          : 1.0,
                       .believed = belief.ring(protocol)});
    if (kind != CollectiveKind::all_reduce) continue;
    choices.push_back({.algorithm = CollectiveAlgorithm::tree,
                       .protocol = protocol,
                       .costs = real.tree(protocol),
                       .believed = belief.tree(protocol)});
  }
  const bool is_gather =
      kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  if (is_gather && place.largest_domain == 1 && place.domains > 1) {
    choices.push_back({.algorithm = CollectiveAlgorithm::pat,
                       .protocol = NcclProtocol::simple,
                       .costs = real.parallel_trees(),
                       .believed = belief.parallel_trees()});
  }
  const bool has_switches = node_type.scale_up_reduces && place.largest_domain > 2;
  if (kind == CollectiveKind::all_reduce && has_switches) {
    choices.push_back({.algorithm = CollectiveAlgorithm::nvls,
                       .protocol = NcclProtocol::simple,
                       .costs = real.nvls(),
                       .large_share = inside.switch_efficiency / inside.large_switch_efficiency,
                       .believed = belief.nvls()});
  }
  return choices;
}

}  // namespace headway
