#include "sim/import/import_draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/index.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/import/infiniband/infiniband_names.h"

namespace headway {
namespace {

constexpr BytesPerSecond kUsualBandwidth = 100_Gbps;

}  // namespace

int ImportDraft::add(const std::string& name, const std::string& host) {
  vertices_.push_back({.name = names_.unique(printable(name)), .host = printable(host)});
  return static_cast<int>(vertices_.size()) - 1;
}

int ImportDraft::add_switch(const std::string& name) { return add(name, ""); }

int ImportDraft::add_endpoint(const std::string& name, const std::string& host) {
  return add(name, host.empty() ? "unnamed" : host);
}

BytesPerSecond ImportDraft::untold_bandwidth(const std::string& why) {
  if (request_.bandwidth) return *request_.bandwidth;
  assume(why + ": 100 Gb/s is taken; --bandwidth sets another");
  return kUsualBandwidth;
}

int ImportDraft::usual_ports(const std::map<std::string, int>& ports_of_host) {
  std::map<int, int> hosts;
  for (const auto& [host, ports] : ports_of_host) ++hosts[ports];
  int usual = 0;
  for (const auto& [ports, count] : hosts) {
    if (usual == 0 || count >= hosts[usual]) usual = ports;
  }
  const int others = static_cast<int>(ports_of_host.size()) - hosts[usual];
  if (others > 0) {
    assume(
        fmt::format("hosts with another number of ports than most ({}): {}; those with fewer "
                    "are no nodes, those with more are nodes by their first ones",
                    usual, others));
  }
  return usual;
}

nlohmann::json ImportDraft::node_type(int nics) {
  if (!request_.node.empty()) return request_.node;
  std::map<BytesPerSecond, int> rates;
  for (const Cable& cable : cables_) {
    const bool is_trunk =
        vertices_[index(cable.a)].host.empty() && vertices_[index(cable.b)].host.empty();
    if (!is_trunk) ++rates[cable.bandwidth];
  }
  BytesPerSecond usual = kUsualBandwidth;
  int most = 0;
  for (const auto& [rate, count] : rates) {
    if (count >= most) usual = rate;
    most = std::max(most, count);
  }
  assume("accelerators are not in the file: one for each NIC is taken");
  nlohmann::json type = {{"name", "imported"},
                         {"accelerator", "any"},
                         {"accelerators", nics},
                         {"nics", {{"count", nics}, {"bandwidth", exact_text(usual)}}}};
  if (nics > 1) {
    type["scale_up"] = {{"bandwidth", exact_text(usual)}};
    assume(
        "the links between the accelerators of a node are not in the file: the NIC's bandwidth is "
        "taken");
  }
  return type;
}

nlohmann::json ImportDraft::endpoints_json(std::map<std::string, int> ports_of_host, int nics) {
  std::vector<const Vertex*> endpoints;
  for (const Vertex& vertex : vertices_) {
    if (!vertex.host.empty()) endpoints.push_back(&vertex);
  }
  std::ranges::stable_sort(endpoints, [](const Vertex* a, const Vertex* b) {
    if (a->host != b->host) return comes_before(a->host, b->host);
    return comes_before(a->name, b->name);
  });
  nlohmann::json list = nlohmann::json::array();
  std::map<std::string, int> given;
  for (const Vertex* endpoint : endpoints) {
    const bool is_of_node = ports_of_host[endpoint->host] >= nics && given[endpoint->host]++ < nics;
    list.push_back({{"name", endpoint->name}, {is_of_node ? "node" : "host", endpoint->host}});
  }
  return list;
}

nlohmann::json ImportDraft::topology(const std::string& source) {
  std::map<std::string, int> ports_of_host;
  nlohmann::json switches = nlohmann::json::array();
  for (const Vertex& vertex : vertices_) {
    if (vertex.host.empty()) {
      switches.push_back({{"name", vertex.name}});
    } else {
      ++ports_of_host[vertex.host];
    }
  }
  if (ports_of_host.empty()) {
    fail("no host was found, so there is nothing to run on", {},
         "a host has a cable to a switch; is the file of another format?");
  }
  if (has_failed()) return nullptr;
  const int nics = usual_ports(ports_of_host);
  nlohmann::json cables = nlohmann::json::array();
  for (const Cable& cable : cables_) {
    nlohmann::json entry = {{"from", vertices_[index(cable.a)].name},
                            {"to", vertices_[index(cable.b)].name},
                            {"bandwidth", exact_text(cable.bandwidth)}};
    if (cable.latency >= Seconds(0.0)) entry["latency"] = exact_text(cable.latency);
    if (!cable.port_a.empty()) entry["from_port_name"] = printable(cable.port_a);
    if (!cable.port_b.empty()) entry["to_port_name"] = printable(cable.port_b);
    cables.push_back(std::move(entry));
  }
  nlohmann::json topology = {{"schema", "headway/topology/1"}, {"name", request_.name}};
  topology["node"] = node_type(nics);
  topology["fabric"] = {{"kind", "graph"},
                        {"endpoints", endpoints_json(ports_of_host, nics)},
                        {"switches", std::move(switches)},
                        {"cables", std::move(cables)}};
  topology["routing"] = {{"kind", "shortest"}};
  assume("how the switches forward is not in the file: shortest paths are taken");
  topology["source"] = this->source(source);
  return topology;
}

}  // namespace headway
