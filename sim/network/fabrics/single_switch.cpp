#include <fmt/format.h>

#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/latency_defaults.h"

namespace headway {

namespace {

struct SingleSwitch {
  BytesPerSecond bandwidth;
  Seconds cable_latency;
  Seconds switch_latency;
};

Topology single_switch_topology(const SingleSwitch& plan, int nodes, int nics,
                                std::vector<VertexId>& endpoints) {
  Topology topology;
  topology.reserve(nodes * nics + 1, nodes * nics);
  endpoints = add_endpoints(topology, nodes, nics);
  const VertexId center = topology.add_switch("switch", 0, plan.switch_latency);
  for (const VertexId endpoint : endpoints) {
    topology.add_cable(endpoint, center, plan.bandwidth, plan.cable_latency);
  }
  return topology;
}

}  // namespace

/// Every NIC on one switch that forwards at full rate between all its ports.
std::optional<Fabric> build_single_switch(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().all().size();
  const NodeType& node = request.node_type;
  const SingleSwitch plan{
      .bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive(), node.nic_bandwidth),
      .cable_latency = reader.quantity<Seconds>("cable_latency", at_least(0.0), kLeafCableLatency),
      .switch_latency = reader.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency)};
  Fabric fabric{.nodes = requested_nodes(request, reader)};
  const double cables = static_cast<double>(fabric.nodes) * node.nics;
  if (reader.has("ports")) {
    const auto ports = reader.integer("ports", at_least(1));
    if (cables > static_cast<double>(ports)) {
      reader.report(
          "ports", "the switch has too few ports",
          fmt::format("{} nodes with {} NICs need {:.0f}", fabric.nodes, node.nics, cables));
    }
  }
  if (!fits_in_memory(cables, reader)) return std::nullopt;
  if (reader.diagnostics().all().size() != problems) return std::nullopt;

  fabric.topology = single_switch_topology(plan, fabric.nodes, node.nics, fabric.endpoints);
  return fabric;
}

}  // namespace headway
