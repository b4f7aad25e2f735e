#include "sim/network/graph_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/index.h"
#include "sim/base/limits.h"
#include "sim/base/suggestion.h"
#include "sim/files/json_objects.h"
#include "sim/network/latency_defaults.h"

namespace headway {

namespace {

constexpr int kMostPorts = 1 << 20;

/// `problem` with a pointer to where the same was said before.
Diagnostic with_earlier(Diagnostic problem, const JsonCursor& earlier) {
  problem.related.push_back({.location = earlier.problem("").location,
                             .pointer = earlier.pointer(),
                             .message = "first here"});
  return problem;
}

/// A text that may be absent.
std::string optional_text(ObjectReader& reader, std::string_view key) {
  if (reader.has(key)) return reader.text(key);
  static_cast<void>(reader.part(key));
  return "";
}

SiteName read_site_name(ObjectReader& reader) {
  return {.description = optional_text(reader, "description"),
          .guid = optional_text(reader, "guid")};
}

}  // namespace

GraphReader::GraphReader(ObjectReader& reader, const NodeType& node)
    : reader_(reader),
      switch_latency_(reader.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency)),
      cable_latency_(reader.quantity<Seconds>("cable_latency", at_least(0.0), kLeafCableLatency)),
      bandwidth_(reader.quantity<BytesPerSecond>("bandwidth", positive(), node.nic_bandwidth)) {}

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
  read_objects(reader_, "endpoints", [this](ObjectReader& endpoint) {
    const int vertex = add_vertex(endpoint);
    read_owner(endpoint, vertex);
    SiteName& site = vertices_[index(vertex)].site;
    site = read_site_name(endpoint);
    site.port_guid = optional_text(endpoint, "port_guid");
  });
}

void GraphReader::read_owner(ObjectReader& reader, int vertex) {
  // Neither a node nor a host: a device of the fabric itself.
  const bool is_device = reader.has("device") && reader.flag("device", false);
  static_cast<void>(reader.part("device"));
  if (is_device) return;
  host_ports_.push_back(vertex);
  const bool is_of_node = reader.has("node") || !reader.has("host");
  std::string node = is_of_node ? reader.text("node") : "";
  hosts_.insert(reader.has("host") ? reader.text("host") : node);
  if (!is_of_node) return;
  const auto [number, is_new] = node_numbers_.try_emplace(std::move(node), nodes_.size());
  if (is_new) {
    nodes_.emplace_back();
    domain_names_.emplace_back();
  }
  nodes_[number->second].push_back(vertex);
  const std::string domain = optional_text(reader, "scale_up_domain");
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
    GraphVertex& vertex = vertices_[index(add_vertex(reader))];
    vertex.is_switch = true;
    vertex.switch_latency =
        reader.quantity<Seconds>("switch_latency", at_least(0.0), switch_latency_);
    if (reader.has("ports")) {
      vertex.ports = static_cast<int>(reader.integer("ports", between(1, kMostPorts)));
    }
    vertex.site = read_site_name(reader);
  });
}

void GraphReader::read_cables() {
  if (!reader_.has("cables")) static_cast<void>(reader_.required_part("cables"));
  read_objects(reader_, "cables",
               [this](ObjectReader& reader) { cables_.push_back(read_cable(reader)); });
}

GraphCable GraphReader::read_cable(ObjectReader& reader) {
  GraphCable cable;
  cable.a = vertex_of(reader, "from");
  cable.b = vertex_of(reader, "to");
  cable.bandwidth = reader.quantity<BytesPerSecond>("bandwidth", positive(), bandwidth_);
  cable.latency = reader.quantity<Seconds>("latency", at_least(0.0), cable_latency_);
  cable.rate = optional_text(reader, "rate");
  cable.port_name_a = optional_text(reader, "from_port_name");
  cable.port_name_b = optional_text(reader, "to_port_name");
  cable.port_a = port_of(reader, "from_port", cable.a);
  cable.port_b = port_of(reader, "to_port", cable.b);
  if (cable.a == cable.b && cable.a != -1) {
    reader.report("to", "a cable joins two different ends");
  }
  return cable;
}

int GraphReader::add_vertex(ObjectReader& reader) {
  const int vertex = static_cast<int>(vertices_.size());
  const std::string name = reader.text("name");
  const auto [known, is_new] = numbers_.try_emplace(name, vertex);
  if (!is_new && reader.has("name")) {
    const JsonCursor& other = vertices_[index(known->second)].cursor;
    const JsonCursor cursor = reader.cursor().member("name").value_or(reader.cursor());
    reader.diagnostics().add(
        with_earlier(cursor.problem(fmt::format("\"{}\" is named twice", name)),
                     other.member("name").value_or(other)));
  }
  vertices_.push_back({.name = name, .cursor = reader.cursor()});
  return vertex;
}

int GraphReader::vertex_of(ObjectReader& reader, std::string_view key) {
  const std::size_t problems = reader.diagnostics().all().size();
  const std::string name = reader.text(key);
  if (reader.diagnostics().all().size() != problems) return -1;
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

int GraphReader::port_of(ObjectReader& reader, std::string_view key, int vertex) {
  if (!reader.has(key)) {
    static_cast<void>(reader.part(key));
    return 0;
  }
  const int port = static_cast<int>(reader.integer(key, between(1, kMostPorts)));
  if (vertex == -1) return port;
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
