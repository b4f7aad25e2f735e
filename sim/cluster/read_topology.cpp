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
  std::vector<std::pair<std::string_view, const Kind*>> words;
  for (const Kind& kind : kinds) words.emplace_back(kind.name, &kind);
  const std::size_t problems = reader.diagnostics().all().size();
  const Words<const Kind*> table(words);
  const Kind* kind = fallback == nullptr ? reader.choice<const Kind*>("kind", table)
                                         : reader.choice<const Kind*>("kind", table, fallback);
  return reader.diagnostics().all().size() == problems ? kind : nullptr;
}

/// A fabric and what became of its kind.
struct ReadFabric {
  const FabricKind* kind = nullptr;  ///< null if it is unknown
  std::optional<Fabric> fabric;
  nlohmann::json resolved;
};

ReadFabric read_fabric(const JsonCursor& part, const FabricRequest& request,
                       Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  ReadFabric read;
  read.kind = read_kind(reader, fabric_kinds());
  if (read.kind == nullptr) return read;  // its fields cannot be judged
  read.fabric = read.kind->build(reader, request);
  read.resolved = reader.finish();
  return read;
}

const RoutingKind& routing_kind(std::string_view name) {
  for (const RoutingKind& kind : routing_kinds()) {
    if (kind.name == name) return kind;
  }
  HEADWAY_CHECK(false, "no routing is called " + std::string(name));
}

/// Reads "routing", or takes the fabric's default. `part` may be nothing.
nlohmann::json read_routing(const std::optional<JsonCursor>& part, const ReadFabric& fabric,
                            Cluster& cluster, Diagnostics& diagnostics) {
  const RoutingRequest request{.topology = cluster.topology,
                               .layout = fabric.fabric->layout.get(),
                               .fabric_kind = fabric.kind->name};
  const JsonCursor defaults(JsonDocument::parse("the default routing", "{}", diagnostics));
  ObjectReader reader(part.value_or(defaults), diagnostics);
  const RoutingKind* kind =
      read_kind(reader, routing_kinds(), &routing_kind(fabric.kind->default_routing));
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

/// Fills the cluster from its parts. Stops where the next part cannot be understood without the
/// one before.
void read_parts(ObjectReader& reader, InputFiles& files, std::optional<int> asked_nodes,
                Cluster& cluster) {
  Diagnostics& diagnostics = reader.diagnostics();
  const auto node_part = reader.required_part("node");
  const auto fabric_part = reader.required_part("fabric");
  const auto routing_part = reader.part("routing");
  const auto expect_part = reader.part("expect");
  const std::optional<int> nodes = read_nodes(reader, asked_nodes);
  auto node = node_part ? read_node_type(*node_part, files) : std::nullopt;
  if (!node) {
    check_kind(fabric_part, fabric_kinds(), diagnostics);
    check_kind(routing_part, routing_kinds(), diagnostics);
    return;
  }
  reader.resolve("node", std::move(node->resolved));
  cluster.node_type = std::move(node->type);
  cluster.scale_up_domain = node->scale_up_domain;
  if (!fabric_part) return;

  ReadFabric fabric =
      read_fabric(*fabric_part, {.node_type = cluster.node_type, .nodes = nodes}, diagnostics);
  reader.resolve("fabric", fabric.resolved);
  if (!fabric.fabric) {
    check_kind(routing_part, routing_kinds(), diagnostics);
    return;
  }
  cluster.topology = std::move(fabric.fabric->topology);
  cluster.nodes = fabric.fabric->nodes;
  cluster.endpoints = std::move(fabric.fabric->endpoints);
  reader.resolve("nodes", cluster.nodes);

  reader.resolve("routing", read_routing(routing_part, fabric, cluster, diagnostics));
  check_connected(cluster.topology, *fabric_part, diagnostics);
  if (expect_part) check_expectations(*expect_part, cluster, !asked_nodes, diagnostics);
}

}  // namespace

std::optional<ReadTopology> read_topology(const JsonCursor& part, InputFiles& files,
                                          std::optional<int> nodes) {
  HEADWAY_CHECK(!nodes || (*nodes >= 1 && *nodes <= kMostNodes), "a cluster has nodes");
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
