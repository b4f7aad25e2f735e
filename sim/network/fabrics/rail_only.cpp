#include <fmt/format.h>

#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/latency_defaults.h"

namespace headway {

FabricBuilder build_rail_only;

/// A switch for each NIC number and nothing that joins them (W. Wang and others, "Rail-only",
/// arXiv 2307.12169): what is for another rail crosses the scale-up domain first. Larger ones are
/// Clos fabrics with spines by rail and no core.
std::optional<Fabric> build_rail_only(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().all().size();
  const NodeType& node = request.node_type;
  const auto bandwidth =
      reader.quantity<BytesPerSecond>("bandwidth", positive(), node.nic_bandwidth);
  const auto cable_latency =
      reader.quantity<Seconds>("cable_latency", at_least(0.0), kLeafCableLatency);
  const auto switch_latency =
      reader.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency);
  Fabric fabric{.nodes = requested_nodes(request, reader)};
  if (reader.has("ports")) {
    const auto ports = reader.integer("ports", at_least(1));
    if (fabric.nodes > ports) {
      reader.report("ports", "the switches have too few ports",
                    fmt::format("{} nodes need as many on each rail", fabric.nodes));
    }
  } else {
    static_cast<void>(reader.part("ports"));
  }
  if (!fits_in_memory(static_cast<double>(fabric.nodes) * node.nics, reader)) return std::nullopt;
  if (reader.diagnostics().all().size() != problems) return std::nullopt;

  fabric.endpoints = add_endpoints(fabric.topology, fabric.nodes, node.nics);
  const VertexId first = fabric.topology.vertex_count();
  for (int rail = 0; rail < node.nics; ++rail) {
    fabric.topology.add_switch(fmt::format("rail{}", rail), 0, switch_latency);
  }
  for (const VertexId endpoint : fabric.endpoints) {
    fabric.topology.add_cable(endpoint, first + endpoint % node.nics, bandwidth, cable_latency);
  }
  return fabric;
}

}  // namespace headway
