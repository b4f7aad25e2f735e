#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/index.h"
#include "sim/base/quantity_text.h"
#include "sim/network/fabrics/fabric.h"
#include "sim/network/fabrics/graph_reader.h"

namespace headway {

namespace {

/// The tier of each switch: how many switches stand between it and the nearest endpoint. 0 for
/// those that no endpoint reaches.
std::vector<int> tiers_of(const GraphReader& graph) {
  std::vector<std::vector<int>> neighbours(graph.vertices().size());
  for (const GraphCable& cable : graph.cables()) {
    neighbours[index(cable.a)].push_back(cable.b);
    neighbours[index(cable.b)].push_back(cable.a);
  }
  std::vector<int> frontier = graph.host_ports();
  std::vector<int> tiers(graph.vertices().size(), -1);
  for (int tier = 0; !frontier.empty(); ++tier) {
    std::vector<int> next;
    for (const int vertex : frontier) {
      for (const int other : neighbours[index(vertex)]) {
        if (!graph.vertices()[index(other)].is_switch || tiers[index(other)] != -1) continue;
        tiers[index(other)] = tier;
        next.push_back(other);
      }
    }
    frontier = std::move(next);
  }
  for (int& tier : tiers) tier = std::max(tier, 0);
  return tiers;
}

Topology graph_topology(const GraphReader& graph) {
  const std::vector<int> tiers = tiers_of(graph);
  Topology topology;
  topology.reserve(static_cast<int>(graph.vertices().size()),
                   static_cast<int>(graph.cables().size()));
  for (std::size_t i = 0; i < graph.vertices().size(); ++i) {
    const GraphVertex& vertex = graph.vertices()[i];
    if (vertex.is_switch) {
      topology.add_switch(vertex.name, tiers[i], vertex.switch_latency);
    } else {
      topology.add_endpoint(vertex.name);
    }
  }
  for (const GraphCable& cable : graph.cables()) {
    topology.add_cable(cable.a, cable.b, cable.bandwidth, cable.latency, cable.port_a,
                       cable.port_b);
  }
  return topology;
}

/// Empty lists where the file names nothing.
SiteRecord site_record(const GraphReader& graph) {
  SiteRecord site{.hosts = graph.hosts(), .host_ports = graph.host_ports()};
  bool has_names = false;
  for (const GraphVertex& vertex : graph.vertices()) has_names |= vertex.site != SiteName();
  for (const GraphVertex& vertex : graph.vertices()) {
    if (has_names) site.names.push_back(vertex.site);
  }
  bool has_rates = false;
  for (const GraphCable& cable : graph.cables()) has_rates |= !cable.rate.empty();
  bool has_ports = false;
  for (const GraphCable& cable : graph.cables()) {
    has_ports |= !cable.port_name_a.empty() || !cable.port_name_b.empty();
  }
  for (const GraphCable& cable : graph.cables()) {
    if (has_rates) site.cable_rates.push_back(cable.rate);
    if (has_ports) site.cable_ports.emplace_back(cable.port_name_a, cable.port_name_b);
  }
  return site;
}

/// Reports nodes whose endpoints are not one for each NIC: of each number of endpoints the first
/// one, for a wrong node type is wrong for all of them.
void check_nics(const GraphReader& graph, const NodeType& node, Diagnostics& diagnostics) {
  std::map<std::size_t, int> nodes_with;  // so many endpoints
  for (const std::vector<int>& endpoints : graph.nodes()) ++nodes_with[endpoints.size()];
  nodes_with.erase(index(node.nics));
  for (const std::vector<int>& endpoints : graph.nodes()) {
    const auto found = nodes_with.find(endpoints.size());
    if (found == nodes_with.end()) continue;
    std::string label =
        fmt::format("{}, but \"{}\" has {}", counted(std::ssize(endpoints), "endpoint"), node.name,
                    counted(node.nics, "NIC"));
    if (found->second > 1) label += fmt::format("; {} nodes are like that", found->second);
    const JsonCursor& last = graph.vertices()[index(endpoints.back())].cursor;
    diagnostics.add(last.member("node").value_or(last).problem(
        "a node has one endpoint for each NIC", std::move(label)));
    nodes_with.erase(found);
  }
}

std::optional<Fabric> build_graph(ObjectReader& reader, const FabricRequest& request) {
  const std::size_t problems = reader.diagnostics().errors();
  const auto is_sound = [&] { return reader.diagnostics().errors() == problems; };
  GraphReader graph(reader, request.node_type);
  graph.read();
  if (!is_sound()) return std::nullopt;

  const int nodes = static_cast<int>(graph.nodes().size());
  check_nics(graph, request.node_type, reader.diagnostics());
  if (nodes == 0) reader.report("endpoints", "a graph has at least one endpoint");
  if (request.nodes && *request.nodes > nodes) {
    reader.report("endpoints",
                  fmt::format("the graph has {} nodes, not {}", nodes, *request.nodes));
  }
  if (!is_sound()) return std::nullopt;

  Fabric fabric{.topology = graph_topology(graph), .nodes = request.nodes.value_or(nodes)};
  fabric.site = site_record(graph);
  fabric.domain_of_node = graph.domains();
  if (!fabric.domain_of_node.empty()) fabric.domain_of_node.resize(index(fabric.nodes));
  for (int node = 0; node < fabric.nodes; ++node) {
    const std::vector<int>& endpoints = graph.nodes()[index(node)];
    fabric.endpoints.insert(fabric.endpoints.end(), endpoints.begin(), endpoints.end());
  }
  return fabric;
}

}  // namespace

/// Switches, endpoints and cables as the file lists them. A node has as many endpoints as NICs, in
/// the order listed. Where fewer nodes are asked for than the graph has, they are its first ones.
FabricKind graph_kind() {
  return {"graph", build_graph, "shortest", [] { return graph_fields().described(); }};
}

}  // namespace headway
