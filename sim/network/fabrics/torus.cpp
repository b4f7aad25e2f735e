#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/join_words.h"
#include "sim/network/endpoint_names.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/fabrics/torus_shape.h"

namespace headway {

namespace {

constexpr int kLargestDimension = 1 << 20;
constexpr int kFewestThatWrap = 3;  // two vertices are neighbours already
constexpr Seconds kHopLatency = 500_ns;

struct TorusFields {
  std::vector<int> sizes;
  std::vector<bool> wraps;  ///< one for each
  BytesPerSecond bandwidth;
  Seconds hop_latency = kHopLatency;
};

/// One flag for all dimensions or one for each.
FieldMember<TorusFields> wrap() {
  FieldMember<TorusFields> member = elsewhere<TorusFields>(
      either(flag_type(), {"an array of these", array_type(flag_type(), "").schema}));
  member.read = [](ObjectReader& reader, std::string_view key, bool, TorusFields& torus) {
    const std::size_t dimensions = torus.sizes.size();
    const auto part = reader.cursor().member(key);
    if (!part || !part->is_array()) {
      torus.wraps.assign(dimensions, reader.flag(key, true));
      return;
    }
    for (const JsonCursor& element : reader.elements(key)) {
      if (!element.value().is_boolean()) {
        reader.diagnostics().add(element.problem("\"wrap\" is made of true and false", "",
                                                 "write [true, true, false], or true for all"));
      }
      torus.wraps.push_back(element.value().is_boolean() && element.value().get<bool>());
    }
    if (torus.wraps.size() != dimensions) {
      reader.report(key, "\"wrap\" has a flag for each dimension, or one for all",
                    fmt::format("{} flags for {} dimensions", torus.wraps.size(), dimensions));
      torus.wraps.resize(dimensions);
    }
  };
  return member;
}

const FieldTable<TorusFields>& torus_fields() {
  static const FieldTable<TorusFields> kFields(
      {{"dims", wholes(&TorusFields::sizes, between(1, kLargestDimension)).required(),
        R"(Sizes of a torus, in NICs. One dimension is a ring.
limits: of a torus, multiply to the number of NICs)"},
       {"wrap", wrap(),
        R"(The ends of a dimension are cabled together: a torus, not a mesh.
limits: one for all dimensions, or one for each
default: true)"},
       {"bandwidth", quantity(&TorusFields::bandwidth, positive()), kFabricBandwidthNotes},
       {"hop_latency", quantity(&TorusFields::hop_latency, at_least(0.0)),
        "Of a cable and the forwarding vertex behind it (torus)."}});
  return kFields;
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

/// So many vertices in as many dimensions: one of the sizes changed, the last that can be, else as
/// equal as they come.
std::vector<int> sizes_for(std::vector<int> sizes, int vertices) {
  std::int64_t product = 1;
  for (const int size : sizes) product *= size;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::int64_t others = product / sizes[i];
    if (vertices % others != 0 || vertices / others < 2) continue;
    sizes[i] = static_cast<int>(vertices / others);
    return sizes;
  }
  int left = vertices;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double equal = std::pow(left, 1.0 / static_cast<double>(sizes.size() - i));
    int size = std::max(1, static_cast<int>(std::llround(equal)));
    while (left % size != 0) --size;
    sizes[i] = size;
    left /= size;
  }
  sizes.back() *= left;
  return sizes;
}

/// Whether as many NICs as vertices were asked for; reports it if not.
bool matches(const std::vector<int>& sizes, double vertices, const FabricRequest& request,
             ObjectReader& reader) {
  const int nics = request.node_type.nics;
  const double endpoints = request.nodes ? static_cast<double>(*request.nodes) * nics : vertices;
  const bool is_whole = static_cast<std::int64_t>(vertices) % nics == 0;
  if (vertices == endpoints && is_whole) return true;
  const std::string product =
      fmt::format("{} = {:.0f} vertices", join_words(sizes, " x "), vertices);
  reader.report(
      "dims", "the torus has not one vertex for each NIC",
      request.nodes
          ? fmt::format("{}, but {} nodes have {:.0f} NICs", product, *request.nodes, endpoints)
          : fmt::format("{}, but a node has {} NICs", product, nics),
      request.nodes ? fmt::format("such as \"dims\": [{}]",
                                  join_words(sizes_for(sizes, *request.nodes * nics), ", "))
                    : "");
  return false;
}

std::optional<Fabric> build_torus(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().errors();
  TorusFields given{.bandwidth = request.node_type.nic_bandwidth};
  torus_fields().read(reader, given);
  if (reader.diagnostics().errors() != problems) return std::nullopt;
  const std::vector<int>& sizes = given.sizes;
  if (sizes.empty()) {
    reader.report("dims", "a torus has at least one dimension");
    return std::nullopt;
  }

  double vertices = 1.0;
  for (const int size : sizes) vertices *= size;
  if (!fits_in_memory(vertices * static_cast<double>(sizes.size()), reader)) return std::nullopt;
  if (!matches(sizes, vertices, request, reader)) return std::nullopt;

  const int nics = request.node_type.nics;
  Fabric fabric{.nodes = static_cast<int>(vertices) / nics};
  fabric.endpoints = add_endpoints(fabric.topology, fabric.nodes, nics);
  auto shape = std::make_unique<TorusShape>(torus_shape(sizes, given.wraps));
  add_cables(fabric.topology, *shape, given.bandwidth, given.hop_latency);
  fabric.layout = std::move(shape);
  return fabric;
}

}  // namespace

/// Endpoints in an n-dimensional grid, cabled to their neighbours and forwarding for each other.
FabricKind torus_kind() {
  return {"torus", build_torus, "dimension-order", [] { return torus_fields().described(); }};
}

}  // namespace headway
