#include "sim/network/read_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/network/analysis/connectivity.h"
#include "sim/network/analysis/expectations.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/fabrics/torus_shape.h"
#include "sim/network/faults.h"
#include "sim/network/node_type.h"
#include "sim/network/optional_schema.h"
#include "sim/network/other_nodes.h"
#include "sim/network/planes.h"
#include "sim/network/read_kind.h"
#include "sim/network/routing/detour_routing.h"
#include "sim/network/routing/routing_kind.h"

namespace headway {

namespace {

constexpr int kMostNodes = 1 << 20;
constexpr std::string_view kTopologySchema = "headway/topology/1";

const RoutingKind& routing_kind(std::string_view name) {
  for (const RoutingKind& kind : routing_kinds()) {
    if (kind.name == name) return kind;
  }
  HEADWAY_CHECK(false, "no routing is called " + std::string(name));
}

/// Reads "routing", or takes the fabric's default. `part` may be nothing; `plane` is what the
/// request speaks of if the fabric has several of it.
nlohmann::json read_routing(const std::optional<JsonCursor>& part, std::string_view default_routing,
                            const RoutingRequest& request, std::unique_ptr<const Topology> plane,
                            Cluster& cluster, Diagnostics& diagnostics) {
  const JsonCursor defaults(JsonDocument::parse("the default routing", "{}", diagnostics));
  ObjectReader reader(part.value_or(defaults), diagnostics);
  const RoutingKind* kind = read_kind(reader, routing_kinds(), &routing_kind(default_routing));
  if (kind == nullptr) return {};
  cluster.routing = kind->build(reader, request);
  nlohmann::json resolved = reader.finish();
  if (cluster.routing == nullptr) return resolved;
  if (plane != nullptr) {
    cluster.routing =
        routing_in_planes(std::move(plane), std::move(cluster.routing), cluster.topology);
  }
  if (cluster.topology.cables_down() == 0) return resolved;
  if (kind->name != "table") {
    cluster.routing = with_detours(std::move(cluster.routing), cluster.topology);
  } else {
    Diagnostic warning = part.value_or(defaults).problem(
        "forwarding tables stay as they are: routes over what is down are lost", "",
        "`headway topology` counts the pairs that do not reach each other");
    warning.severity = Severity::warning;
    diagnostics.add(std::move(warning));
  }
  return resolved;
}

/// Warns where switches that hash flows are taken to route without collisions, because nobody says
/// otherwise. Of a graph somebody wrote out which ways there are.
void check_hashing(const JsonCursor& fabric, const ReadFabric& read, const Cluster& cluster,
                   Diagnostics& diagnostics) {
  const bool has_ways = has_several_ways(cluster.topology) && read.kind != "graph";
  if (!has_ways || !hashes_by_default(read.transport.kind)) return;
  Diagnostic warning =
      fabric.member("transport")
          .value_or(fabric)
          .problem(
              fmt::format("\"routing\" is not said: {} is taken, by which flows do not collide, "
                          "and switches "
                          "of Ethernet hash them",
                          read.default_routing),
              "",
              R"(write "routing": {"kind": "ecmp", "queue_pairs": 4}, "adaptive" if they spread packets, or )"
              "what is taken if it is meant");
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

void check_connected(const JsonCursor& fabric, Cluster& cluster, Diagnostics& diagnostics) {
  const Connectivity found = connectivity(cluster);
  cluster.rails_only = found.rails_only;
  if (!found.unconnected) return;
  diagnostics.add(fabric.problem(fmt::format("there is no path from \"{}\" to \"{}\"",
                                             cluster.topology.name(found.unconnected->a),
                                             cluster.topology.name(found.unconnected->b)),
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

/// What a topology is made of; only "node" and "fabric" may not be left out.
struct TopologyParts {
  std::optional<JsonCursor> node;
  std::optional<JsonCursor> other_nodes;
  std::optional<JsonCursor> fabric;
  std::optional<JsonCursor> faults;
  std::optional<JsonCursor> routing;
  std::optional<JsonCursor> expect;
  std::optional<int> nodes;
};

/// Reads the types of nodes: the cluster's own, and handed back those of single nodes. Nothing if
/// something is wrong with them.
std::optional<std::vector<OtherNodes>> read_node(const TopologyParts& parts, ObjectReader& reader,
                                                 InputFiles& files, Cluster& cluster) {
  if (!parts.node) return std::nullopt;
  auto node = read_node_type(*parts.node, files);
  if (!node) return std::nullopt;
  std::vector<OtherNodes> others;
  if (parts.other_nodes) {
    auto read = read_other_nodes(*parts.other_nodes, *node, files);
    if (!read) return std::nullopt;
    reader.resolve("other_nodes", std::move(*read->resolved));
    others = std::move(read->runs);
  }
  reader.resolve("node", std::move(*node->resolved));
  cluster.node_type = std::move(node->type);
  cluster.scale_up_domain = node->scale_up_domain;
  return others;
}

/// Which nodes share a scale-up domain: what the graph tells, else as many in a row as the node
/// type has room for, which of a graph says nothing but the order of a file.
void set_domains(const JsonCursor& fabric, std::vector<int> domains, std::string_view kind,
                 Cluster& cluster, Diagnostics& diagnostics) {
  const int room = cluster.scale_up_domain;
  const int of_node = cluster.node_type.accelerators;
  if (domains.empty()) {
    if (kind != "graph" || room <= of_node || cluster.accelerators() <= room) return;
    Diagnostic warning = fabric.problem(
        "which nodes share a scale-up domain is not said: the order of the file decides",
        fmt::format("{} nodes in a row", room / of_node),
        R"(give endpoints a "scale_up_domain"; `headway import --domains` does)");
    warning.severity = Severity::warning;
    diagnostics.add(std::move(warning));
    return;
  }
  std::map<int, int> nodes;
  for (const int domain : domains) ++nodes[domain];
  const auto largest =
      std::ranges::max_element(nodes, {}, [](const auto& domain) { return domain.second; });
  if (largest->second * of_node > std::max(room, of_node)) {
    diagnostics.add(fabric.problem(
        "more nodes share a scale-up domain than the node type has room for",
        fmt::format("{} nodes of {} accelerators in one, of {}", largest->second, of_node, room),
        R"("domain" of the node's "scale_up" says how many accelerators reach each other)"));
    return;
  }
  // The cluster need not be told of domains within a node.
  if (room < of_node) return;
  cluster.scale_up_domain = largest->second * of_node;
  cluster.domain_of_node = std::move(domains);
}

/// Reads the fabric, its faults and its routing. Requires the types of nodes.
bool read_fabric_parts(const TopologyParts& parts, const std::vector<OtherNodes>& others,
                       ObjectReader& reader, Cluster& cluster) {
  if (!parts.fabric) return false;
  nlohmann::json resolved;
  auto read = read_fabric(
      *parts.fabric, {.node_type = fastest_nics(cluster.node_type, others), .nodes = parts.nodes},
      reader.diagnostics(), resolved);
  reader.resolve("fabric", std::move(resolved));
  if (!read) return false;
  cluster.node_type.transport = read->transport;
  Fabric& fabric = read->fabric;
  cluster.topology = std::move(fabric.topology);
  cluster.nodes = fabric.nodes;
  cluster.endpoints = std::move(fabric.endpoints);
  cluster.site = fabric.site ? std::move(*fabric.site)
                             : SiteRecord{.hosts = cluster.nodes, .host_ports = cluster.endpoints};
  if (const auto* torus = dynamic_cast<const TorusShape*>(fabric.layout.get())) {
    cluster.torus = std::make_shared<const TorusShape>(*torus);
  }
  reader.resolve("nodes", cluster.nodes);
  set_domains(*parts.fabric, std::move(fabric.domain_of_node), read->kind, cluster,
              reader.diagnostics());
  place_other_nodes(others, cluster, reader.diagnostics());
  for (NodeType& type : cluster.other_types) type.transport = read->transport;
  if (parts.faults) {
    reader.resolve("faults", apply_faults(*parts.faults, cluster, reader.diagnostics()));
  }
  const RoutingRequest request{.topology = read->plane ? *read->plane : cluster.topology,
                               .layout = fabric.layout.get(),
                               .fabric_kind = read->kind,
                               .has_sites = read->has_sites};
  reader.resolve("routing", read_routing(parts.routing, read->default_routing, request,
                                         std::move(read->plane), cluster, reader.diagnostics()));
  if (!parts.routing) check_hashing(*parts.fabric, *read, cluster, reader.diagnostics());
  check_connected(*parts.fabric, cluster, reader.diagnostics());
  return true;
}

/// Fills the cluster. Of what cannot be read because something before it is wrong, the kinds at
/// least are checked.
void read_parts(ObjectReader& reader, InputFiles& files, std::optional<int> nodes,
                Cluster& cluster) {
  Diagnostics& diagnostics = reader.diagnostics();
  const TopologyParts parts{.node = reader.required_part("node", "\"dgx_h100\""),
                            .other_nodes = reader.part("other_nodes"),
                            .fabric = reader.required_part("fabric", R"({"kind": "clos", ...})"),
                            .faults = reader.part("faults"),
                            .routing = reader.part("routing"),
                            .expect = reader.part("expect"),
                            .nodes = read_nodes(reader, nodes)};
  const auto others = read_node(parts, reader, files, cluster);
  if (!others) {
    check_kind(parts.fabric, fabric_kinds(), diagnostics);
    check_kind(parts.routing, routing_kinds(), diagnostics);
  } else if (!read_fabric_parts(parts, *others, reader, cluster)) {
    check_kind(parts.routing, routing_kinds(), diagnostics);
  } else if (parts.expect) {
    check_expectations(*parts.expect, cluster, !nodes, diagnostics);
  }
}

/// All are read one by one.
const FieldTable<TopologyParts>& topology_fields() {
  using Parts = TopologyParts;
  static const FieldTable<Parts> kFields(
      {{"schema", elsewhere<Parts>(constant_type(kTopologySchema)),
        R"(Says that a file is a topology, and of which version.
default: required in a file, optional inside a scenario)"},
       {"name", elsewhere<Parts>(text_type()).required(), "What reports call the cluster."},
       {"source", elsewhere<Parts>(text_type()),
        "Where the numbers were published, and what was assumed."},
       {"nodes", elsewhere<Parts>(whole_type(between(1, kMostNodes))),
        R"(Nodes on the fabric.
see: cluster.nodes
default: what the fabric has room for)"},
       {"node", elsewhere<Parts>(file_type()).required().made_of(node_field_descriptions()),
        R"(The kind of node, of all that other_nodes does not name.
see: topologies/nodes)"},
       {"other_nodes",
        elsewhere<Parts>(array_type(object_type(), "objects")).made_of(other_node_descriptions()),
        R"(Nodes of another type, each run of them an object. A job on several takes a list of
profiles: every node that of its accelerator.
limits: as wide as the others: as many accelerators and NICs
see: profile)"},
       {"fabric", elsewhere<Parts>(object_type()).required().made_of(fabric_field_descriptions()),
        "The switches and cables between the nodes."},
       {"routing", elsewhere<Parts>(object_type()).made_of(routing_field_descriptions()),
        R"(How the fabric picks paths.
default: what fits the fabric)"},
       {"faults",
        elsewhere<Parts>(array_type(object_type(), "objects")).made_of(fault_field_descriptions()),
        R"(What is down or slow: each names a cable, a switch or a NIC. The fabric is routed around
it; accelerators whose NIC is cut off send by another one of their node.
limits: leaves every node a NIC and a path to every other one
default: [])"},
       {"expect", elsewhere<Parts>(object_type()).made_of(expect_field_descriptions()),
        R"(Counts that the built fabric must have: a guard against slips. Not checked where the
scenario takes another number of nodes; --set /expect=null takes it away.)"}});
  return kFields;
}

}  // namespace

std::vector<FieldDescription> topology_field_descriptions() {
  return topology_fields().described();
}

std::optional<ReadTopology> read_topology(const JsonCursor& part, InputFiles& files,
                                          std::optional<int> nodes) {
  HEADWAY_CHECK(nodes.value_or(1) >= 1, "a cluster has nodes");
  HEADWAY_CHECK(nodes.value_or(1) <= kMostNodes, "a cluster has not so many nodes");
  const std::optional<JsonCursor> object = files.follow(part, "topologies");
  if (!object) return std::nullopt;

  Diagnostics problems;
  ObjectReader reader(*object, problems);
  if (!read_schema_of_file(reader, kTopologySchema)) {
    files.diagnostics().append(problems);
    return std::nullopt;
  }
  auto cluster = std::make_shared<Cluster>();
  cluster->name = reader.text("name");
  reader.text("source", "");
  const std::size_t before = files.diagnostics().errors();
  read_parts(reader, files, nodes, *cluster);
  nlohmann::json resolved = reader.finish();
  if (nodes) resolved.erase("expect");  // it speaks of the file's own nodes
  const bool is_sound = !problems.has_errors() && files.diagnostics().errors() == before;
  files.diagnostics().append(problems);
  if (!is_sound) return std::nullopt;
  return ReadTopology{
      .cluster = std::move(cluster), .cursor = *object, .resolved = std::move(resolved)};
}

}  // namespace headway
