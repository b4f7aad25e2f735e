#include "sim/network/fabrics/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/index.h"
#include "sim/base/limits.h"
#include "sim/base/suggestion.h"
#include "sim/files/json_objects.h"
#include "sim/network/fabrics/fabric.h"

namespace headway {

namespace {

constexpr int kHighestPort = 1 << 20;

/// `problem` with a pointer to where the same was said before.
Diagnostic with_earlier(Diagnostic problem, const JsonCursor& earlier) {
  problem.related.push_back({.location = earlier.problem("").location,
                             .pointer = earlier.pointer(),
                             .message = "first here"});
  return problem;
}

/// An entry of "switches", as the file has it.
struct SwitchFields {
  std::string name;
  std::optional<int> ports;
  Seconds switch_latency;
  SiteName site;
};

}  // namespace

struct EndpointFields {
  std::string name;
  bool is_device = false;
  std::string node;
  std::string host;
  std::string scale_up_domain;
  SiteName site;

  [[nodiscard]] bool is_of_node() const { return !is_device && (!node.empty() || host.empty()); }
};

struct CableFields {
  std::string from;
  std::string to;
  std::optional<int> from_port;
  std::optional<int> to_port;
  BytesPerSecond bandwidth;
  Seconds latency;
  GraphCable names;  ///< what the site calls its rate and ports
};

namespace {

constexpr Range kPorts = between(1, kHighestPort);

const FieldTable<EndpointFields>& endpoint_fields() {
  using Endpoint = EndpointFields;
  const auto has_machine = [](const Endpoint& endpoint) { return !endpoint.is_device; };
  constexpr FieldNeed kMachine{"device", "false", "a device belongs to no machine"};
  static const FieldTable<Endpoint> kFields(
      {{"name", text(&Endpoint::name).required(),
        R"(What cables call it.
limits: no other endpoint or switch has it)"},
       {"device", flag(&Endpoint::is_device).where([](const Endpoint& of) { return of.is_device; }),
        "It belongs to no machine: a switch's aggregation node (SHARP), a router."},
       {"node", optional_text(&Endpoint::node).only_where(has_machine, kMachine),
        R"(The node it belongs to. Nodes are numbered in the order they are first named.
default: required unless host or device is given)"},
       {"host", optional_text(&Endpoint::host).only_where(has_machine, kMachine),
        R"(The machine it belongs to. Without a node: one on which no job runs (storage, login).
default: the node)"},
       {"scale_up_domain",
        optional_text(&Endpoint::scale_up_domain)
            .only_where([](const Endpoint& endpoint) { return endpoint.is_of_node(); },
                        {"a node", "", "only a node is in a scale-up domain"}),
        R"(What the site calls the scale-up domain of its node: a rack, a block of Slurm, a clique of
NVLink. Nodes that name the same one reach each other without a NIC, as far as the node type's
scale_up.domain allows.
limits: one for all endpoints of a node
see: cluster.topology.node.scale_up.domain
default: nodes in a row, with a warning)"},
       {"description", within(&Endpoint::site, optional_text(&SiteName::description)),
        "What the site calls the NIC, without the port."},
       {"guid", within(&Endpoint::site, optional_text(&SiteName::guid)),
        "Of the NIC (InfiniBand)."},
       {"port_guid", within(&Endpoint::site, optional_text(&SiteName::port_guid)),
        "Of the port (InfiniBand)."}});
  return kFields;
}

const FieldTable<SwitchFields>& switch_fields() {
  using Switch = SwitchFields;
  static const FieldTable<Switch> kFields(
      {{"name", text(&Switch::name).required(),
        R"(What cables call it.
limits: no other endpoint or switch has it)"},
       {"ports", whole(&Switch::ports, kPorts), "Ports of the switch: a guard against slips."},
       {"switch_latency", quantity(&Switch::switch_latency, at_least(0.0)),
        "From port to port of this switch.\ndefault: the fabric's switch_latency"},
       {"description", within(&Switch::site, optional_text(&SiteName::description)),
        "What the site calls the switch."},
       {"guid", within(&Switch::site, optional_text(&SiteName::guid)),
        "Of the switch (InfiniBand)."}});
  return kFields;
}

const FieldTable<CableFields>& cable_fields() {
  using Cable = CableFields;
  static const FieldTable<Cable> kFields(
      {{"from", text(&Cable::from).required(), "One end: the name of an endpoint or switch."},
       {"to", text(&Cable::to).required(), "The other end.\nlimits: not the same"},
       {"from_port", whole(&Cable::from_port, kPorts),
        R"(Its port there, counted from 1.
limits: used by one cable
default: the next free one)"},
       {"to_port", whole(&Cable::to_port, kPorts),
        R"(Its port at the other end.
limits: used by one cable
default: the next free one)"},
       {"bandwidth", quantity(&Cable::bandwidth, positive()),
        "Of this cable, each way.\ndefault: the fabric's bandwidth"},
       {"latency", quantity(&Cable::latency, at_least(0.0)),
        "Of this cable.\ndefault: the fabric's cable_latency"},
       {"rate", within(&Cable::names, optional_text(&GraphCable::rate)),
        R"(What the site calls its bandwidth: "4xHDR". Shown, not read.)"},
       {"from_port_name", within(&Cable::names, optional_text(&GraphCable::port_name_a)),
        R"(What the site calls the port there: "swp51". `headway route` shows it.)"},
       {"to_port_name", within(&Cable::names, optional_text(&GraphCable::port_name_b)),
        "The same at the other end."}});
  return kFields;
}

}  // namespace

const FieldTable<GraphDefaults>& graph_fields() {
  using Graph = GraphDefaults;
  const FieldType objects = array_type(object_type(), "objects");
  static const FieldTable<Graph> kFields(
      {{"switch_latency", quantity(&Graph::switch_latency, at_least(0.0)),
        kFabricSwitchLatencyNotes},
       {"cable_latency", quantity(&Graph::cable_latency, at_least(0.0)), kFabricCableLatencyNotes},
       {"bandwidth", quantity(&Graph::bandwidth, positive()), kFabricBandwidthNotes},
       {"endpoints", elsewhere<Graph>(objects).required().made_of(endpoint_fields().described()),
        R"(The NIC ports of a graph. A node's come in the order of its NICs.
limits: as many for each node as it has NICs)"},
       {"switches", elsewhere<Graph>(objects).made_of(switch_fields().described()),
        R"(The switches of a graph.
default: [])"},
       {"cables", elsewhere<Graph>(objects).required().made_of(cable_fields().described()),
        R"(The cables of a graph; both ways are links of their own.
limits: connect every endpoint)"}});
  return kFields;
}

GraphReader::GraphReader(ObjectReader& reader, const NodeType& node)
    : reader_(reader), defaults_{.bandwidth = node.nic_bandwidth} {
  graph_fields().read(reader, defaults_);
}

void GraphReader::read() {
  read_endpoints();
  read_switches();
  read_cables();
  for (GraphCable& cable : cables_) {
    cable.port_a = ports_.port(cable.a, cable.port_a);
    cable.port_b = ports_.port(cable.b, cable.port_b);
  }
}

void GraphReader::read_endpoints() {
  if (!reader_.has("endpoints")) static_cast<void>(reader_.required_part("endpoints"));
  read_objects(reader_, "endpoints", [this](ObjectReader& reader) {
    EndpointFields given;
    endpoint_fields().read(reader, given);
    const int vertex = add_vertex(reader, given.name);
    read_owner(reader, given, vertex);
    vertices_[index(vertex)].site = std::move(given.site);
  });
}

void GraphReader::read_owner(ObjectReader& reader, const EndpointFields& given, int vertex) {
  // Neither a node nor a host: a device of the fabric itself.
  if (given.is_device) return;
  host_ports_.push_back(vertex);
  const bool is_of_node = reader.has("node") || !reader.has("host");
  std::string node = is_of_node && !reader.has("node") ? reader.text("node") : given.node;
  hosts_.insert(reader.has("host") ? given.host : node);
  if (!is_of_node) return;
  const auto [number, is_new] = node_numbers_.try_emplace(std::move(node), nodes_.size());
  if (is_new) {
    nodes_.emplace_back();
    domain_names_.emplace_back();
  }
  nodes_[number->second].push_back(vertex);
  const std::string& domain = given.scale_up_domain;
  std::string& known = domain_names_[number->second];
  if (!domain.empty() && !known.empty() && known != domain) {
    reader.report("scale_up_domain", "a node is in one scale-up domain",
                  fmt::format("its first endpoint says \"{}\"", known));
  }
  if (known.empty()) known = domain;
}

std::vector<int> GraphReader::domains() const {
  std::unordered_map<std::string, int> numbers;
  std::vector<int> domains;
  int next = 0;
  for (const std::string& name : domain_names_) {
    const auto known = numbers.find(name);
    if (!name.empty() && known != numbers.end()) {
      domains.push_back(known->second);
      continue;
    }
    if (!name.empty()) numbers.emplace(name, next);
    domains.push_back(next++);
  }
  return numbers.empty() ? std::vector<int>() : domains;
}

void GraphReader::read_switches() {
  read_objects(reader_, "switches", [this](ObjectReader& reader) {
    SwitchFields given{.switch_latency = defaults_.switch_latency};
    switch_fields().read(reader, given);
    GraphVertex& vertex = vertices_[index(add_vertex(reader, given.name))];
    vertex.is_switch = true;
    vertex.switch_latency = given.switch_latency;
    vertex.ports = given.ports.value_or(0);
    vertex.site = std::move(given.site);
  });
}

void GraphReader::read_cables() {
  if (!reader_.has("cables")) static_cast<void>(reader_.required_part("cables"));
  read_objects(reader_, "cables",
               [this](ObjectReader& reader) { cables_.push_back(read_cable(reader)); });
}

GraphCable GraphReader::read_cable(ObjectReader& reader) {
  CableFields given{.bandwidth = defaults_.bandwidth, .latency = defaults_.cable_latency};
  cable_fields().read(reader, given);
  GraphCable cable = std::move(given.names);
  cable.a = vertex_of(reader, "from", given.from);
  cable.b = vertex_of(reader, "to", given.to);
  cable.bandwidth = given.bandwidth;
  cable.latency = given.latency;
  cable.port_a = port_of(reader, "from_port", given.from_port, cable.a);
  cable.port_b = port_of(reader, "to_port", given.to_port, cable.b);
  if (cable.a == cable.b && cable.a != -1) {
    reader.report("to", "a cable joins two different ends", "", "name another switch or endpoint");
  }
  return cable;
}

int GraphReader::add_vertex(const ObjectReader& reader, const std::string& name) {
  const int vertex = static_cast<int>(vertices_.size());
  const auto [known, is_new] = numbers_.try_emplace(name, vertex);
  if (!is_new && reader.has("name")) {
    const JsonCursor& other = vertices_[index(known->second)].cursor;
    const JsonCursor cursor = reader.cursor().member("name").value_or(reader.cursor());
    reader_.diagnostics().add(
        with_earlier(cursor.problem(fmt::format("\"{}\" is named twice", name)),
                     other.member("name").value_or(other)));
  }
  vertices_.push_back({.name = name, .cursor = reader.cursor()});
  return vertex;
}

int GraphReader::vertex_of(ObjectReader& reader, std::string_view key, const std::string& name) {
  const auto given = reader.cursor().member(key);
  if (!given || !given->value().is_string()) return -1;
  if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;

  std::vector<std::string_view> names;
  const bool is_shown = std::ssize(reader.diagnostics().all()) < limits().problems;
  if (is_shown) {
    names.reserve(vertices_.size());
    for (const GraphVertex& vertex : vertices_) names.push_back(vertex.name);
  }
  const auto meant = closest(name, names);
  reader.report(key, fmt::format("no switch or endpoint is called \"{}\"", name), "",
                meant ? fmt::format("did you mean \"{}\"?", *meant) : "");
  return -1;
}

int GraphReader::port_of(ObjectReader& reader, std::string_view key, std::optional<int> given,
                         int vertex) {
  const int port = given.value_or(0);
  if (vertex == -1 || port == 0) return port;
  const GraphVertex& owner = vertices_[index(vertex)];
  const JsonCursor cursor = reader.cursor().member(key).value_or(reader.cursor());
  if (owner.ports > 0 && port > owner.ports) {
    reader.report(key, fmt::format("\"{}\" has no port {}", owner.name, port),
                  fmt::format("it has {} ports", owner.ports));
  } else if (const JsonCursor* user = ports_.take(vertex, port, cursor)) {
    reader.diagnostics().add(with_earlier(
        cursor.problem(fmt::format("port {} of \"{}\" is used twice", port, owner.name)), *user));
  }
  return port;
}

}  // namespace headway
