#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/hyperx_shape.h"
#include "sim/network/latency_defaults.h"

namespace headway {

FabricBuilder build_hyperx;

namespace {

constexpr int kMostSwitches = 1 << 20;

std::vector<int> read_hyperx_sizes(ObjectReader& reader) {
  std::vector<int> sizes;
  if (!reader.has("dims")) static_cast<void>(reader.required_part("dims"));
  for (const JsonCursor& element : reader.elements("dims")) {
    const nlohmann::json& value = element.value();
    if (value.is_number_integer() && value >= 1 && value <= kMostSwitches) {
      sizes.push_back(value.get<int>());
    } else {
      reader.diagnostics().add(
          element.problem("a dimension is a whole number of switches",
                          fmt::format("must be between 1 and {}", kMostSwitches)));
    }
  }
  return sizes;
}

struct HyperXPlan {
  BytesPerSecond bandwidth;
  Seconds cable_latency;
  Seconds switch_latency;
};

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
                  const HyperXPlan& plan) {
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

}  // namespace

/// Switches in a grid, every two of a line cabled to each other.
std::optional<Fabric> build_hyperx(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().all().size();
  const auto is_sound = [&] { return reader.diagnostics().all().size() == problems; };
  const std::vector<int> sizes = read_hyperx_sizes(reader);
  HyperXShape shape;
  shape.endpoints_per_switch =
      static_cast<int>(reader.integer("endpoints_per_switch", between(1, kMostSwitches)));
  shape.cables_per_pair = static_cast<int>(reader.integer("cables_per_pair", between(1, 1024), 1));
  const HyperXPlan plan{
      .bandwidth =
          reader.quantity<BytesPerSecond>("bandwidth", positive(), request.node_type.nic_bandwidth),
      .cable_latency = reader.quantity<Seconds>("cable_latency", at_least(0.0), kSpineCableLatency),
      .switch_latency = reader.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency)};
  if (!is_sound()) return std::nullopt;

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
  add_switches(fabric.topology, shape, static_cast<int>(switches), plan);
  fabric.layout = std::make_unique<HyperXShape>(std::move(shape));
  return fabric;
}

}  // namespace headway
