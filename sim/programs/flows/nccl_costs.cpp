#include "sim/programs/flows/nccl_costs.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kSimpleMessages = 3.0;  ///< message overheads in a step of Simple, by NCCL's model

/// Costs of one algorithm and protocol on nodes of one type.
class Costing {
 public:
  Costing(const NodeType& node_type, CollectiveKind kind, const NcclPlace& place)
      : node_(node_type),
        inside_(nccl_node_costs(node_type.accelerator)),
        kind_(kind),
        place_(place),
        is_amd_(node_type.processor == HostProcessor::amd) {
    HEADWAY_CHECK(inside_ != nullptr, "no constants of this accelerator");
  }

  [[nodiscard]] NcclChoice ring(NcclProtocol protocol) const {
    NcclChoice choice = base(CollectiveAlgorithm::ring, protocol);
    NetworkCosts& costs = choice.costs;
    const NcclNetworkCosts network = nccl_network_costs(protocol);
    // With one rank a node NCCL counts a tree's steps.
    costs.scale_out_latency = place_.largest_domain == 1 ? network.tree_step : network.ring_step;
    if (place_.domains == 1) return choice;
    const bool is_simple = protocol == NcclProtocol::simple;
    // Every step of a ring crosses the network somewhere, so none is faster than its messages.
    costs.scale_up_latency = max(costs.scale_up_latency, (is_simple ? kSimpleMessages : 1.0) *
                                                             nccl_message_overhead(is_amd_));
    if (is_simple && kind_ == CollectiveKind::all_reduce) {
      costs.scale_up_latency = inside_->ring_plateau * costs.scale_up_latency;
      costs.scale_out_latency = inside_->ring_plateau * costs.scale_out_latency;
    }
    return choice;
  }

  [[nodiscard]] NcclChoice tree(NcclProtocol protocol) const {
    NcclChoice choice = base(CollectiveAlgorithm::tree, protocol);
    choice.costs.scale_out_latency = nccl_network_costs(protocol).tree_step;
    choice.costs.scale_out_efficiency *= kNcclTreeEfficiency;
    return choice;
  }

  [[nodiscard]] NcclChoice nvls() const {
    NcclChoice choice = tree(NcclProtocol::simple);
    choice.algorithm = CollectiveAlgorithm::nvls;
    choice.costs.scale_up_efficiency = inside_->switch_efficiency;
    choice.costs.scale_up_overhead = inside_->overhead + inside_->switch_overhead;
    choice.costs.scale_out_overhead = choice.costs.scale_up_overhead;
    return choice;
  }

  [[nodiscard]] NcclChoice messages() const {
    NcclChoice choice = base(CollectiveAlgorithm::ring, NcclProtocol::simple);
    // Tables of one node show the overhead of a low-latency protocol for them.
    choice.costs.scale_up_overhead = inside_->overhead;
    choice.costs.scale_out_overhead = inside_->overhead;
    choice.costs.scale_out_latency = nccl_network_costs(NcclProtocol::simple).tree_step;
    choice.costs.message_overhead = nccl_message_overhead(is_amd_);
    choice.costs.is_rail_local = place_.is_rail_local;
    return choice;
  }

 private:
  [[nodiscard]] NcclChoice base(CollectiveAlgorithm algorithm, NcclProtocol protocol) const {
    const NcclNetworkCosts network = nccl_network_costs(protocol);
    const bool is_simple = protocol == NcclProtocol::simple;
    NcclChoice choice{.algorithm = algorithm, .protocol = protocol};
    NetworkCosts& costs = choice.costs;
    costs.scale_up_efficiency = inside_->efficiency * (is_simple ? 1.0 : kNcclLowLatencyShare);
    if (protocol == NcclProtocol::ll && place_.domains > 1 && place_.largest_domain > 1) {
      costs.scale_up_efficiency =
          std::min(costs.scale_up_efficiency,
                   nccl_ll_bandwidth(place_.domains, is_amd_) / node_.scale_up_bandwidth);
    }
    costs.scale_up_latency = inside_->step;
    costs.scale_up_overhead =
        is_simple ? inside_->overhead + inside_->simple_overhead : inside_->overhead;
    costs.scale_out_overhead = costs.scale_up_overhead + network.overhead;
    costs.scale_out_efficiency = kNicGoodput * network.efficiency *
                                 std::min(1.0, node_.nic_bus_bandwidth / node_.nic_bandwidth);
    return choice;
  }

  const NodeType& node_;
  const NcclNodeCosts* inside_;
  CollectiveKind kind_;
  const NcclPlace& place_;
  bool is_amd_;
};

}  // namespace

double NcclChoice::stretch(Bytes message) const {
  if (algorithm != CollectiveAlgorithm::tree) return 1.0;
  return 1.0 / nccl_tree_filling(protocol, message);
}

std::vector<NcclChoice> nccl_choices(const NodeType& node_type, CollectiveKind kind,
                                     const NcclPlace& place) {
  const Costing costing(node_type, kind, place);
  if (kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive) {
    return {costing.messages()};
  }
  std::vector<NcclChoice> choices;
  for (const NcclProtocol protocol : kNcclProtocols) {
    choices.push_back(costing.ring(protocol));
    if (kind == CollectiveKind::all_reduce) choices.push_back(costing.tree(protocol));
  }
  const bool has_switches = node_type.scale_up_reduces && place.largest_domain > 2;
  if (kind == CollectiveKind::all_reduce && has_switches) choices.push_back(costing.nvls());
  return choices;
}

}  // namespace headway
