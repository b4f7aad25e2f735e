#include "sim/import/infiniband/infiniband_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/import/import_notes.h"
#include "sim/import/infiniband/forwarding_rows.h"
#include "sim/import/infiniband/infiniband_names.h"
#include "sim/network/fabrics/transport.h"
#include "sim/network/union_find.h"

namespace headway {
namespace {

using Kind = InfiniBandNode::Kind;

/// A port of an adapter (or router) with a cable.
struct Endpoint {
  int node = -1;
  int port = 0;
  std::string host;  ///< empty for a device that is of no host
  std::string name;
};

/// A cable as both its ends have it; the end that comes first is `a`.
struct Cable {
  int a = -1;
  int port_a = 0;
  int b = -1;
  int port_b = 0;
  LinkRate rate;
};

class GraphWriter : ImportNotes {
 public:
  GraphWriter(const InfiniBandFabric& fabric, const ForwardingTables& tables,
              Diagnostics& diagnostics)
      : ImportNotes(diagnostics), fabric_(fabric), tables_(tables) {}

  nlohmann::json write(const InfiniBandGraphTexts& texts) {
    collect_cables();
    collect_switches();
    collect_endpoints();
    if (endpoints_.empty()) {
      fail("no host has a cable, so there is no fabric to import", {.file = texts.source},
           "give the dump of a fabric whose hosts are up; forwarding tables alone name no cables");
    }
    if (has_failed()) return {};
    choose_nics();
    nlohmann::json topology = {{"schema", "headway/topology/1"}, {"name", texts.name}};
    topology["node"] = node_type(texts.node);
    topology["fabric"] = {{"kind", "graph"},
                          {"transport", word_of(TransportKind::infiniband)},
                          {"endpoints", endpoints_json()},
                          {"switches", switches_json()},
                          {"cables", cables_json()}};
    topology["routing"] = routing_json();
    topology["source"] = source("InfiniBand dump " + texts.source);
    return topology;
  }

 private:
  [[nodiscard]] const InfiniBandNode& node(int number) const { return fabric_.node(number); }
  [[nodiscard]] int node_count() const { return static_cast<int>(fabric_.nodes().size()); }

  void collect_cables() {
    int one_sided = 0;
    int loops = 0;
    int unequal = 0;
    std::set<std::pair<int, int>> taken;  // ends of cables that only one side tells of
    for (int number = 0; number < node_count(); ++number) {
      for (const auto& [port, end] : node(number).ports) {
        if (end.peer == number) {
          ++loops;
          continue;
        }
        const auto& far_ports = node(end.peer).ports;
        const auto far = far_ports.find(end.peer_port);
        Cable cable{
            .a = number, .port_a = port, .b = end.peer, .port_b = end.peer_port, .rate = end.rate};
        if (far == far_ports.end()) {
          ++one_sided;
          if (!taken.emplace(end.peer, end.peer_port).second) {
            fail("another port is cabled to the same port of the same peer", end.location,
                 "dump the fabric again, as a whole and at one time");
          }
        } else if (far->second.peer != number || far->second.peer_port != port) {
          fail("the peer's own block says that its port leads elsewhere", end.location,
               "dump the fabric again, as a whole and at one time");
          continue;
        } else if (end.peer < number) {
          continue;  // counted from the other side
        } else if (far->second.rate != end.rate) {
          ++unequal;
          if (far->second.rate.bandwidth() < end.rate.bandwidth()) cable.rate = far->second.rate;
        }
        cables_.push_back(cable);
      }
    }
    if (one_sided > 0) {
      assume(fmt::format("cables that one end only tells of, which are kept: {}", one_sided));
    }
    if (loops > 0) {
      assume(fmt::format("ports that lead back to their switch, which are left out: {}", loops));
    }
    if (unequal > 0) {
      assume(fmt::format("cables with two rates, which are taken at the lower one: {}", unequal));
    }
  }

  void collect_switches() {
    for (int number = 0; number < node_count(); ++number) {
      if (node(number).kind == Kind::fabric_switch) switches_.push_back(number);
    }
    std::ranges::sort(switches_, {}, [&](int number) { return node(number).guid; });
    names_.resize(static_cast<std::size_t>(node_count()));
    for (const int number : switches_) {
      name_of(number) = unique_.name(node(number).description, node(number).guid, "");
    }
  }

  [[nodiscard]] std::string& name_of(int number) {
    return names_[static_cast<std::size_t>(number)];
  }

  void collect_endpoints() {
    for (const Cable& cable : cables_) {
      add_endpoint(cable.a, cable.port_a);
      add_endpoint(cable.b, cable.port_b);
      peers_[{cable.a, cable.port_a}] = cable.b;
      peers_[{cable.b, cable.port_b}] = cable.a;
    }
    int unnamed = 0;
    for (Endpoint& endpoint : endpoints_) {
      const InfiniBandNode& adapter = node(endpoint.node);
      if (adapter.kind == Kind::router || adapter.is_aggregation_node()) continue;
      endpoint.host = host_name(adapter);
      if (!endpoint.host.empty()) continue;
      endpoint.host = guid_text(adapter.guid);
      ++unnamed;
    }
    if (unnamed > 0) {
      assume(fmt::format(
          "ports of adapters that do not name their host, each of which is taken as a host "
          "of its own: {}",
          unnamed));
    }
    // Devices of no host last.
    std::ranges::sort(endpoints_, [&](const Endpoint& a, const Endpoint& b) {
      if (a.host.empty() != b.host.empty()) return b.host.empty();
      if (a.host != b.host) return comes_before(a.host, b.host);
      const InfiniBandNode& node_a = node(a.node);
      const InfiniBandNode& node_b = node(b.node);
      if (node_a.description != node_b.description) {
        return comes_before(node_a.description, node_b.description);
      }
      return std::pair(node_a.guid, a.port) < std::pair(node_b.guid, b.port);
    });
    for (Endpoint& endpoint : endpoints_) {
      const InfiniBandNode& adapter = node(endpoint.node);
      endpoint.name =
          unique_.name(adapter.description, adapter.guid, fmt::format("/{}", endpoint.port));
      endpoint_names_[{endpoint.node, endpoint.port}] = endpoint.name;
    }
  }

  void add_endpoint(int number, int port) {
    if (node(number).kind == Kind::fabric_switch) return;
    endpoints_.push_back({.node = number, .port = port});
  }

  /// NICs of a node: what most hosts have, the larger number if two are as frequent.
  void choose_nics() {
    std::map<std::string, int> ports;
    for (const Endpoint& endpoint : endpoints_) {
      if (!endpoint.host.empty()) ++ports[endpoint.host];
    }
    std::map<int, int> hosts;
    for (const auto& [host, count] : ports) ++hosts[count];
    for (const auto& [count, frequency] : hosts) {
      if (nics_ == 0 || frequency >= hosts[nics_]) nics_ = count;
    }
    if (nics_ == 0) {
      return fail("no adapter is of a host, so there is nothing to run on", {},
                  "hosts are channel adapters (Ca) other than those of switches");
    }
    const int others = static_cast<int>(ports.size()) - hosts[nics_];
    if (others > 0) {
      assume(
          fmt::format("hosts with another number of ports than most ({}): {}; those with fewer are "
                      "no nodes, those with more are nodes by their first ones",
                      nics_, others));
    }
    ports_of_host_ = std::move(ports);
  }

  nlohmann::json node_type(const nlohmann::json& known) {
    if (!known.is_null()) return known;
    std::map<BytesPerSecond, int> rates;
    for (const Cable& cable : cables_) {
      const bool is_trunk =
          node(cable.a).kind == Kind::fabric_switch && node(cable.b).kind == Kind::fabric_switch;
      const bool is_device =
          node(cable.a).is_aggregation_node() || node(cable.b).is_aggregation_node();
      if (!is_trunk && !is_device) ++rates[cable.rate.bandwidth()];
    }
    BytesPerSecond usual;
    for (const auto& [rate, count] : rates) {
      if (usual == BytesPerSecond(0.0) || count >= rates[usual]) usual = rate;
    }
    assume("accelerators are not in the dump: one for each NIC is taken");
    nlohmann::json type = {{"name", "imported"},
                           {"accelerator", "any"},
                           {"accelerators", nics_},
                           {"nics", {{"count", nics_}, {"bandwidth", exact_text(usual)}}}};
    if (nics_ > 1) {
      type["scale_up"] = {{"bandwidth", exact_text(usual)}};
      assume(
          "the links between the accelerators of a node are not in the dump: the NIC's "
          "bandwidth is taken");
    }
    return type;
  }

  nlohmann::json endpoints_json() {
    nlohmann::json list = nlohmann::json::array();
    std::map<std::string, int> given;
    for (const Endpoint& endpoint : endpoints_) {
      const InfiniBandNode& adapter = node(endpoint.node);
      nlohmann::json entry = {{"name", endpoint.name},
                              {"description", adapter.description},
                              {"guid", guid_text(adapter.guid)}};
      const auto guid = adapter.port_guids.find(endpoint.port);
      if (guid != adapter.port_guids.end()) entry["port_guid"] = guid_text(guid->second);
      if (endpoint.host.empty()) {
        entry["device"] = true;
      } else if (ports_of_host_[endpoint.host] >= nics_ && given[endpoint.host]++ < nics_) {
        entry["node"] = endpoint.host;
      } else {
        entry["host"] = endpoint.host;
      }
      list.push_back(std::move(entry));
    }
    return list;
  }

  nlohmann::json switches_json() {
    nlohmann::json list = nlohmann::json::array();
    for (const int number : switches_) {
      list.push_back({{"name", name_of(number)},
                      {"description", node(number).description},
                      {"guid", guid_text(node(number).guid)}});
    }
    return list;
  }

  [[nodiscard]] std::string end_name(int number, int port) {
    return node(number).kind == Kind::fabric_switch ? name_of(number)
                                                    : endpoint_names_[{number, port}];
  }

  nlohmann::json cables_json() {
    nlohmann::json list = nlohmann::json::array();
    for (const Cable& cable : cables_) {
      list.push_back({{"from", end_name(cable.a, cable.port_a)},
                      {"from_port", cable.port_a},
                      {"to", end_name(cable.b, cable.port_b)},
                      {"to_port", cable.port_b},
                      {"bandwidth", exact_text(cable.rate.bandwidth())},
                      {"rate", cable.rate.text()}});
    }
    return list;
  }

  nlohmann::json routing_json() {
    if (tables_.empty()) {
      assume("no forwarding tables were given: shortest paths are taken");
      return {{"kind", "shortest"}};
    }
    // A file that nobody could read again is not written.
    const double entries =
        static_cast<double>(switches_.size()) * static_cast<double>(endpoints_.size());
    if (2.0 * entries > static_cast<double>(limits().file_bytes)) {
      fail(
          fmt::format("forwarding tables of {} switches for {} ports are larger than a file may be",
                      switches_.size(), endpoints_.size()),
          {}, limit_help(&Limits::file_bytes));
      return {};
    }
    const std::vector<int> subnets = subnet_of_nodes();
    std::vector<Destination> destinations;
    std::set<std::pair<int, int>> seen;
    int without = 0;
    bool has_ranges = false;
    for (const Endpoint& endpoint : endpoints_) {
      const InfiniBandNode& adapter = node(endpoint.node);
      const auto lid = adapter.lids.find(endpoint.port);
      const int peer = peers_.at({endpoint.node, endpoint.port});
      destinations.push_back({.lid = lid == adapter.lids.end() ? 0 : lid->second,
                              .subnet = subnets[static_cast<std::size_t>(peer)]});
      has_ranges |= adapter.lmc > 0;
      if (destinations.back().lid == 0) {
        ++without;
      } else if (!seen.emplace(destinations.back().subnet, destinations.back().lid).second) {
        fail(fmt::format("LID {} is of two ports", destinations.back().lid), {},
             "dump fabric and tables again: the LIDs were given anew between two dumps");
      }
    }
    if (without > 0) assume(fmt::format("ports without a LID, which nothing reaches: {}", without));
    if (has_ranges) assume("ports have several LIDs (LMC above 0): the first of each is used");
    return {{"kind", "table"}, {"digits", 2}, {"rows", rows_json(destinations, subnets)}};
  }

  /// The subnet of each switch: a LID means something within its subnet only.
  [[nodiscard]] std::vector<int> subnet_of_nodes() const {
    UnionFind joined(node_count());
    for (const Cable& cable : cables_) {
      if (node(cable.a).kind == Kind::fabric_switch && node(cable.b).kind == Kind::fabric_switch) {
        joined.join(cable.a, cable.b);
      }
    }
    std::vector<int> subnets;
    for (int number = 0; number < node_count(); ++number) subnets.push_back(joined.group(number));
    return subnets;
  }

  nlohmann::json rows_json(const std::vector<Destination>& destinations,
                           const std::vector<int>& subnets) {
    ForwardingSwitches switches{.fabric = fabric_, .numbers = switches_, .subnets = subnets};
    for (const auto& [end, peer] : peers_) switches.cabled.insert(end);
    ForwardingRows made = forwarding_rows(switches, tables_, destinations);
    if (made.without > 0) {
      assume(fmt::format("switches without a forwarding table, which nothing passes: {}",
                         made.without));
    }
    if (made.unused > 0) {
      assume(
          fmt::format("forwarding tables of switches that were not discovered: {}", made.unused));
    }
    if (made.loose > 0) {
      assume(fmt::format("entries of tables that lead to a port without a cable: {}", made.loose));
    }
    return std::move(made.rows);
  }

  const InfiniBandFabric& fabric_;
  const ForwardingTables& tables_;
  UniqueNames unique_;
  std::vector<Cable> cables_;
  std::vector<int> switches_;
  std::vector<std::string> names_;  ///< of switches, by the number of the node
  std::vector<Endpoint> endpoints_;
  std::map<std::pair<int, int>, std::string> endpoint_names_;
  std::map<std::pair<int, int>, int> peers_;  ///< the node at the other end of a port
  std::map<std::string, int> ports_of_host_;
  int nics_ = 0;
};

}  // namespace

nlohmann::json infiniband_graph(const InfiniBandGraphTexts& texts, const InfiniBandFabric& fabric,
                                const ForwardingTables& tables, Diagnostics& diagnostics) {
  return GraphWriter(fabric, tables, diagnostics).write(texts);
}

}  // namespace headway
