#include "sim/cluster/read_topology.h"

#include <fmt/format.h>

#include "sim/cluster/expectations.h"
#include "sim/cluster/fabric.h"
#include "sim/cluster/node_type.h"
#include "sim/cluster/optional_schema.h"
#include "sim/cluster/routing_kind.h"
#include "sim/cluster/shortest_paths.h"

namespace headway {

namespace {

constexpr int kMostNodes = 1 << 20;

/// The kind that /kind names, or nothing if it names none (which is reported).
template <class Kind>
const Kind* read_kind(ObjectReader& reader, std::span<const Kind> kinds,
                      const Kind* fallback = nullptr) {
  if (!reader.cursor().value().is_object()) return nullptr;
  std::vector<std::pair<std::string_view, const Kind*>> words;
  for (const Kind& kind : kinds) words.emplace_back(kind.name, &kind);
  const std::size_t problems = reader.diagnostics().all().size();
  const Words<const Kind*> table(words);
  const Kind* kind = fallback == nullptr ? reader.choice<const Kind*>("kind", table)
                                         : reader.choice<const Kind*>("kind", table, fallback);
  return reader.diagnostics().all().size() == problems ? kind : nullptr;
}

const RoutingKind& routing_kind(std::string_view name) {
  for (const RoutingKind& kind : routing_kinds()) {
    if (kind.name == name) return kind;
  }
  HEADWAY_CHECK(false, "no routing is called " + std::string(name));
}

/// Reads "routing", or takes the fabric's default. `part` may be nothing.
nlohmann::json read_routing(const std::optional<JsonCursor>& part, const FabricKind& fabric_kind,
                            const RoutingRequest& request, Cluster& cluster,
                            Diagnostics& diagnostics) {
  const JsonCursor defaults(JsonDocument::parse("the default routing", "{}", diagnostics));
  ObjectReader reader(part.value_or(defaults), diagnostics);
  const RoutingKind* kind =
      read_kind(reader, routing_kinds(), &routing_kind(fabric_kind.default_routing));
  if (kind == nullptr) return {};
  cluster.routing = kind->build(reader, request);
  return reader.finish();
}

void check_connected(const Topology& topology, const JsonCursor& fabric, Diagnostics& diagnostics) {
  const auto pair = unconnected_pair(topology);
  if (!pair) return;
  diagnostics.add(fabric.problem(fmt::format("there is no path from \"{}\" to \"{}\"",
                                             topology.name(pair->a), topology.name(pair->b)),
                                 "",
                                 "every endpoint must reach every other one through the cables"));
}

/// Reports a kind that is none, of a part whose other fields cannot be judged.
template <class Kind>
void check_kind(const std::optional<JsonCursor>& part, std::span<const Kind> kinds,
                Diagnostics& diagnostics) {
  if (!part) return;
  ObjectReader reader(*part, diagnostics);
  if (reader.has("kind")) read_kind(reader, kinds);
}

/// Reads the number of nodes; the argument wins over the file.
std::optional<int> read_nodes(ObjectReader& reader, std::optional<int> nodes) {
  if (!reader.has("nodes")) {
    static_cast<void>(reader.part("nodes"));
    return nodes;
  }
  return nodes.value_or(static_cast<int>(reader.integer("nodes", between(1, kMostNodes))));
}

/// What a topology is made of; only "routing" and "expect" may be left out.
struct TopologyParts {
  std::optional<JsonCursor> node;
  std::optional<JsonCursor> fabric;
  std::optional<JsonCursor> routing;
  std::optional<JsonCursor> expect;
  std::optional<int> nodes;
};

bool read_node(const TopologyParts& parts, ObjectReader& reader, InputFiles& files,
               Cluster& cluster) {
  if (!parts.node) return false;
  auto node = read_node_type(*parts.node, files);
  if (!node) return false;
  reader.resolve("node", std::move(node->resolved));
  cluster.node_type = std::move(node->type);
  cluster.scale_up_domain = node->scale_up_domain;
  return true;
}

/// Reads the fabric and its routing. Requires the node type.
bool read_fabric(const TopologyParts& parts, ObjectReader& reader, Cluster& cluster) {
  if (!parts.fabric) return false;
  ObjectReader fabric_reader(*parts.fabric, reader.diagnostics());
  const FabricKind* kind = read_kind(fabric_reader, fabric_kinds());
  if (kind == nullptr) return false;
  auto fabric = kind->build(fabric_reader, {.node_type = cluster.node_type, .nodes = parts.nodes});
  reader.resolve("fabric", fabric_reader.finish());
  if (!fabric) return false;
  cluster.topology = std::move(fabric->topology);
  cluster.nodes = fabric->nodes;
  cluster.endpoints = std::move(fabric->endpoints);
  cluster.site = fabric->site ? std::move(*fabric->site)
                              : SiteRecord{.hosts = cluster.nodes, .host_ports = cluster.endpoints};
  reader.resolve("nodes", cluster.nodes);
  const RoutingRequest request{
      .topology = cluster.topology, .layout = fabric->layout.get(), .fabric_kind = kind->name};
  reader.resolve("routing",
                 read_routing(parts.routing, *kind, request, cluster, reader.diagnostics()));
  check_connected(cluster.topology, *parts.fabric, reader.diagnostics());
  return true;
}

/// Fills the cluster. Of what cannot be read because something before it is wrong, the kinds at
/// least are checked.
void read_parts(ObjectReader& reader, InputFiles& files, std::optional<int> nodes,
                Cluster& cluster) {
  Diagnostics& diagnostics = reader.diagnostics();
  const TopologyParts parts{.node = reader.required_part("node"),
                            .fabric = reader.required_part("fabric"),
                            .routing = reader.part("routing"),
                            .expect = reader.part("expect"),
                            .nodes = read_nodes(reader, nodes)};
  if (!read_node(parts, reader, files, cluster)) {
    check_kind(parts.fabric, fabric_kinds(), diagnostics);
    check_kind(parts.routing, routing_kinds(), diagnostics);
  } else if (!read_fabric(parts, reader, cluster)) {
    check_kind(parts.routing, routing_kinds(), diagnostics);
  } else if (parts.expect) {
    check_expectations(*parts.expect, cluster, !nodes, diagnostics);
  }
}

}  // namespace

std::optional<ReadTopology> read_topology(const JsonCursor& part, InputFiles& files,
                                          std::optional<int> nodes) {
  HEADWAY_CHECK(nodes.value_or(1) >= 1, "a cluster has nodes");
  HEADWAY_CHECK(nodes.value_or(1) <= kMostNodes, "a cluster has not so many nodes");
  const std::optional<JsonCursor> object = files.follow(part, "topologies");
  if (!object) return std::nullopt;

  Diagnostics problems;
  ObjectReader reader(*object, problems);
  read_schema_of_file(reader, "headway/topology/1");
  auto cluster = std::make_shared<Cluster>();
  cluster->name = reader.text("name");
  reader.text("source", "");
  const std::size_t before = files.diagnostics().all().size();
  read_parts(reader, files, nodes, *cluster);
  nlohmann::json resolved = reader.finish();
  if (nodes) resolved.erase("expect");  // it speaks of the file's own nodes
  const bool is_sound = !problems.has_errors() && files.diagnostics().all().size() == before;
  files.diagnostics().append(problems);
  if (!is_sound) return std::nullopt;
  return ReadTopology{
      .cluster = std::move(cluster), .cursor = *object, .resolved = std::move(resolved)};
}

}  // namespace headway
