#include <fmt/format.h>

#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/latency_defaults.h"

namespace headway {

namespace {

struct Star {
  BytesPerSecond bandwidth;
  Seconds cable_latency = kLeafCableLatency;
  Seconds switch_latency = kSwitchLatency;
  std::optional<std::int64_t> ports;
};

const FieldTable<Star>& star_fields() {
  static const FieldTable<Star> kFields(
      {{"bandwidth", quantity(&Star::bandwidth, positive()), kFabricBandwidthNotes},
       {"cable_latency", quantity(&Star::cable_latency, at_least(0.0)), kFabricCableLatencyNotes},
       {"switch_latency", quantity(&Star::switch_latency, at_least(0.0)),
        kFabricSwitchLatencyNotes},
       {"ports", whole(&Star::ports, at_least(1)),
        R"(Of a switch: a guard against slips.
limits: enough for every NIC)"}});
  return kFields;
}

/// Switches that forward at full rate between all their ports, endpoint i on the one of number i
/// modulo `switches`.
std::optional<Fabric> build_stars(ObjectReader& reader, const FabricRequest& request, int switches,
                                  std::string_view name) {
  const std::size_t problems = reader.diagnostics().errors();
  const NodeType& node = request.node_type;
  Star star{.bandwidth = node.nic_bandwidth};
  star_fields().read(reader, star);
  Fabric fabric{.nodes = requested_nodes(request, reader)};
  const std::int64_t cables = std::int64_t{fabric.nodes} * node.nics;
  if (star.ports && cables / switches > *star.ports) {
    reader.report("ports", "a switch has too few ports",
                  fmt::format("{} NICs are cabled to it", cables / switches));
  }
  if (!fits_in_memory(static_cast<double>(cables), reader)) return std::nullopt;
  if (reader.diagnostics().errors() != problems) return std::nullopt;

  fabric.topology.reserve(static_cast<int>(cables) + switches, static_cast<int>(cables));
  fabric.endpoints = add_endpoints(fabric.topology, fabric.nodes, node.nics);
  const VertexId first = fabric.topology.vertex_count();
  for (int number = 0; number < switches; ++number) {
    fabric.topology.add_switch(fmt::format(fmt::runtime(name), number), 0, star.switch_latency);
  }
  for (const VertexId endpoint : fabric.endpoints) {
    fabric.topology.add_cable(endpoint, first + endpoint % switches, star.bandwidth,
                              star.cable_latency);
  }
  return fabric;
}

}  // namespace

/// Every NIC on one switch.
FabricKind single_switch_kind() {
  return {"single_switch",
          [](ObjectReader& reader, const FabricRequest& request) {
            return build_stars(reader, request, 1, "switch");
          },
          "shortest", [] { return star_fields().described(); }};
}

/// A switch for each NIC number and nothing that joins them (W. Wang and others, "Rail-only",
/// arXiv 2307.12169): what is for another rail crosses the scale-up domain first. Larger ones are
/// Clos fabrics with spines by rail and no core.
FabricKind rail_only_kind() {
  return {"rail_only",
          [](ObjectReader& reader, const FabricRequest& request) {
            return build_stars(reader, request, request.node_type.nics, "rail{}");
          },
          "shortest", [] { return star_fields().described(); }};
}

}  // namespace headway
