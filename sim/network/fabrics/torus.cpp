#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/fabrics/torus_shape.h"

namespace headway {

namespace {

constexpr int kLargestDimension = 1 << 20;
constexpr int kFewestThatWrap = 3;  // two vertices are neighbours already
constexpr Seconds kHopLatency = 500_ns;

/// The sizes; a wrong one is reported and left out.
std::vector<int> read_torus_sizes(ObjectReader& reader) {
  std::vector<int> sizes;
  const auto part = reader.required_part("dims");
  if (!part) return sizes;
  const std::vector<JsonCursor> elements = reader.elements("dims");
  if (elements.empty() && part->value().is_array()) {
    reader.report("dims", "a torus has at least one dimension");
  }
  for (const JsonCursor& element : elements) {
    const nlohmann::json& value = element.value();
    if (value.is_number_integer() && value >= 1 && value <= kLargestDimension) {
      sizes.push_back(value.get<int>());
    } else {
      reader.diagnostics().add(
          element.problem("a dimension is a whole number of vertices",
                          fmt::format("must be between 1 and {}", kLargestDimension)));
    }
  }
  return sizes;
}

/// /wrap: one flag for all dimensions or one for each.
std::vector<bool> read_wraps(ObjectReader& reader, std::size_t dimensions) {
  const auto part = reader.cursor().member("wrap");
  if (!part || !part->value().is_array()) {
    return std::vector<bool>(dimensions, reader.flag("wrap", true));
  }
  std::vector<bool> wraps;
  for (const JsonCursor& element : reader.elements("wrap")) {
    if (!element.value().is_boolean()) {
      reader.diagnostics().add(element.problem("\"wrap\" is made of true and false"));
    }
    wraps.push_back(element.value().is_boolean() && element.value().get<bool>());
  }
  if (wraps.size() != dimensions) {
    reader.report("wrap", "\"wrap\" has a flag for each dimension, or one for all",
                  fmt::format("{} flags for {} dimensions", wraps.size(), dimensions));
    wraps.resize(dimensions);
  }
  return wraps;
}

TorusShape torus_shape(const std::vector<int>& sizes, const std::vector<bool>& wraps) {
  TorusShape shape;
  int vertices = 1;
  for (const int size : sizes) vertices *= size;
  int stride = vertices;
  int cables = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    stride /= sizes[i];
    TorusShape::Dimension dimension{.size = sizes[i],
                                    .wraps = wraps[i] && sizes[i] >= kFewestThatWrap,
                                    .stride = stride,
                                    .first_cable = cables};
    cables += vertices / sizes[i] * dimension.cables_of_line();
    shape.dimensions.push_back(dimension);
  }
  return shape;
}

void add_cables(Topology& topology, const TorusShape& shape, BytesPerSecond bandwidth,
                Seconds latency) {
  for (const TorusShape::Dimension& dimension : shape.dimensions) {
    for (VertexId vertex = 0; vertex < topology.vertex_count(); ++vertex) {
      const bool is_last = dimension.coordinate(vertex) + 1 == dimension.size;
      if (is_last && !dimension.wraps) continue;
      const LinkId link = topology.add_cable(vertex, dimension.above(vertex), bandwidth, latency);
      HEADWAY_CHECK(link == dimension.link_up(vertex),
                    "a torus has the links that its shape tells");
    }
  }
}

/// Whether as many NICs as vertices were asked for; reports it if not.
bool matches(const std::vector<int>& sizes, double vertices, const FabricRequest& request,
             ObjectReader& reader) {
  const int nics = request.node_type.nics;
  const double endpoints = request.nodes ? static_cast<double>(*request.nodes) * nics : vertices;
  const bool is_whole = static_cast<std::int64_t>(vertices) % nics == 0;
  if (vertices == endpoints && is_whole) return true;
  const std::string product =
      fmt::format("{} = {:.0f} vertices", fmt::join(sizes, " x "), vertices);
  reader.report("dims", "the torus has not one vertex for each NIC",
                request.nodes ? fmt::format("{}, but {} nodes have {:.0f} NICs", product,
                                            *request.nodes, endpoints)
                              : fmt::format("{}, but a node has {} NICs", product, nics));
  return false;
}

}  // namespace

/// Endpoints in an n-dimensional grid, cabled to their neighbours and forwarding for each other.
std::optional<Fabric> build_torus(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().all().size();
  const std::vector<int> sizes = read_torus_sizes(reader);
  const std::vector<bool> wraps = read_wraps(reader, sizes.size());
  const auto bandwidth =
      reader.quantity<BytesPerSecond>("bandwidth", positive(), request.node_type.nic_bandwidth);
  const auto latency = reader.quantity<Seconds>("hop_latency", at_least(0.0), kHopLatency);
  if (reader.diagnostics().all().size() != problems) return std::nullopt;

  double vertices = 1.0;
  for (const int size : sizes) vertices *= size;
  if (!fits_in_memory(vertices * static_cast<double>(sizes.size()), reader)) return std::nullopt;
  if (!matches(sizes, vertices, request, reader)) return std::nullopt;

  const int nics = request.node_type.nics;
  Fabric fabric{.nodes = static_cast<int>(vertices) / nics};
  fabric.endpoints = add_endpoints(fabric.topology, fabric.nodes, nics);
  auto shape = std::make_unique<TorusShape>(torus_shape(sizes, wraps));
  add_cables(fabric.topology, *shape, bandwidth, latency);
  fabric.layout = std::move(shape);
  return fabric;
}

}  // namespace headway
