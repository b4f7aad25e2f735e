#include <fmt/format.h>

#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/hyperx_shape.h"
#include "sim/network/latency_defaults.h"

namespace headway {

namespace {

constexpr int kMostSwitches = 1 << 20;

struct HyperXFields {
  std::vector<int> sizes;
  int endpoints_per_switch = 1;
  int cables_per_pair = 1;
  BytesPerSecond bandwidth;
  Seconds cable_latency = kSpineCableLatency;
  Seconds switch_latency = kSwitchLatency;
};

const FieldTable<HyperXFields>& hyperx_fields() {
  using Fields = HyperXFields;
  static const FieldTable<Fields> kFields(
      {{"dims", wholes(&Fields::sizes, between(1, kMostSwitches)).required(),
        "Sizes of a hyperx, in switches. One dimension is switches that are all cabled to each "
        "other."},
       {"endpoints_per_switch",
        whole(&Fields::endpoints_per_switch, between(1, kMostSwitches)).required(),
        kFabricPlacesNotes},
       {"cables_per_pair", whole(&Fields::cables_per_pair, between(1, 1024)),
        "Cables between two switches of a line."},
       {"bandwidth", quantity(&Fields::bandwidth, positive()), kFabricBandwidthNotes},
       {"cable_latency", quantity(&Fields::cable_latency, at_least(0.0)), kFabricCableLatencyNotes},
       {"switch_latency", quantity(&Fields::switch_latency, at_least(0.0)),
        kFabricSwitchLatencyNotes}});
  return kFields;
}

/// Numbers the cables of each dimension; `cables` counts them all, those to endpoints included.
HyperXShape hyperx_shape(const std::vector<int>& sizes, int switches, HyperXShape shape) {
  int stride = switches;
  int cables = shape.endpoints;
  for (const int size : sizes) {
    stride /= size;
    HyperXShape::Dimension dimension{.size = size, .stride = stride, .first_cable = cables};
    cables += switches / size * dimension.pairs() * shape.cables_per_pair;
    shape.dimensions.push_back(dimension);
  }
  return shape;
}

void add_switches(Topology& topology, const HyperXShape& shape, int switches,
                  const HyperXFields& plan) {
  for (int number = 0; number < switches; ++number) {
    std::string name = "switch";
    for (const HyperXShape::Dimension& dimension : shape.dimensions) {
      name += fmt::format("/{}", dimension.coordinate(number));
    }
    topology.add_switch(name, 0, plan.switch_latency);
  }
  const VertexId first = shape.endpoints;
  for (VertexId endpoint = 0; endpoint < shape.endpoints; ++endpoint) {
    topology.add_cable(endpoint, first + shape.switch_of(endpoint), plan.bandwidth,
                       kLeafCableLatency);
  }
  for (const HyperXShape::Dimension& dimension : shape.dimensions) {
    for (int line = 0; line < switches / dimension.size; ++line) {
      const int start =
          line / dimension.stride * dimension.stride * dimension.size + line % dimension.stride;
      for (int low = 0; low < dimension.size; ++low) {
        for (int high = low + 1; high < dimension.size; ++high) {
          for (int cable = 0; cable < shape.cables_per_pair; ++cable) {
            const int a = start + low * dimension.stride;
            const int b = start + high * dimension.stride;
            const LinkId link =
                topology.add_cable(first + a, first + b, plan.bandwidth, plan.cable_latency);
            HEADWAY_CHECK(link == shape.first_link(a, b) + 2 * cable,
                          "a HyperX has the links that its shape tells");
          }
        }
      }
    }
  }
}

std::optional<Fabric> build_hyperx(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().errors();
  HyperXFields given{.bandwidth = request.node_type.nic_bandwidth};
  hyperx_fields().read(reader, given);
  if (reader.diagnostics().errors() != problems) return std::nullopt;
  const std::vector<int>& sizes = given.sizes;
  HyperXShape shape;
  shape.endpoints_per_switch = given.endpoints_per_switch;
  shape.cables_per_pair = given.cables_per_pair;

  double switches = 1.0;
  double cables_of_switch = 0.0;
  for (const int size : sizes) {
    switches *= size;
    cables_of_switch += (size - 1) / 2.0 * shape.cables_per_pair;
  }
  const int nics = request.node_type.nics;
  const double room = switches * shape.endpoints_per_switch;
  if (!fits_in_memory(room + switches * cables_of_switch, reader)) return std::nullopt;
  const int nodes = request.nodes.value_or(std::max(1, static_cast<int>(room) / nics));
  if (static_cast<double>(nodes) * nics > room) {
    reader.report("dims", "the fabric has too few places for NICs",
                  fmt::format("{:.0f} switches with {} places for {} nodes with {} NICs", switches,
                              shape.endpoints_per_switch, nodes, nics));
    return std::nullopt;
  }
  Fabric fabric{.nodes = nodes};
  fabric.endpoints = add_endpoints(fabric.topology, nodes, nics);
  shape.endpoints = nodes * nics;
  shape = hyperx_shape(sizes, static_cast<int>(switches), std::move(shape));
  add_switches(fabric.topology, shape, static_cast<int>(switches), given);
  fabric.layout = std::make_unique<HyperXShape>(std::move(shape));
  return fabric;
}

}  // namespace

/// Switches in a grid, every two of a line cabled to each other.
FabricKind hyperx_kind() {
  return {"hyperx", build_hyperx, "dimension-order", [] { return hyperx_fields().described(); }};
}

}  // namespace headway
