#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/network/cluster.h"
#include "sim/network/fabrics/graph_ports.h"
#include "sim/network/latency_defaults.h"

namespace headway {

struct GraphVertex {
  std::string name;
  JsonCursor cursor;
  bool is_switch = false;
  Seconds switch_latency;
  int ports = 0;  ///< of a switch; 0 is any number
  SiteName site;  ///< empty where the file says nothing
};

struct GraphCable {
  int a = -1;  ///< indices of vertices
  int b = -1;
  int port_a = 0;
  int port_b = 0;
  BytesPerSecond bandwidth;
  Seconds latency;
  std::string rate;  ///< as the site calls the bandwidth; may be empty
  std::string port_name_a;  ///< likewise
  std::string port_name_b;
};

/// What vertices and cables have where they say nothing else.
struct GraphDefaults {
  BytesPerSecond bandwidth;
  Seconds cable_latency = kLeafCableLatency;
  Seconds switch_latency = kSwitchLatency;
};
/// Of a "fabric" that is a graph.
[[nodiscard]] const FieldTable<GraphDefaults>& graph_fields();

/// An entry of "endpoints" and one of "cables", as the file has them.
struct EndpointFields;
struct CableFields;

/// Reads an explicit graph, "endpoints", "switches" and "cables", and checks names and ports.
class GraphReader {
 public:
  GraphReader(ObjectReader& reader, const NodeType& node);

  /// Vertices first, then the cables between them. Reports what is wrong; use the rest only if
  /// nothing was.
  void read();

  [[nodiscard]] const std::vector<GraphVertex>& vertices() const { return vertices_; }
  /// Every port given: those that the file leaves open are the lowest free ones.
  [[nodiscard]] const std::vector<GraphCable>& cables() const { return cables_; }
  /// Endpoints of each node, nodes in the order of their first endpoint.
  [[nodiscard]] const std::vector<std::vector<int>>& nodes() const { return nodes_; }
  /// Endpoints of nodes and of hosts that are none.
  [[nodiscard]] const std::vector<int>& host_ports() const { return host_ports_; }
  /// The scale-up domain of each node, numbered as they are first named; a node of which nobody
  /// says it has one of its own. Empty if nobody says anything.
  [[nodiscard]] std::vector<int> domains() const;
  [[nodiscard]] int hosts() const { return static_cast<int>(hosts_.size()); }

 private:
  void read_endpoints();
  /// Reads whose port a vertex is.
  void read_owner(ObjectReader& reader, const EndpointFields& given, int vertex);
  void read_switches();
  void read_cables();
  [[nodiscard]] GraphCable read_cable(ObjectReader& reader);

  /// Reports the name if another vertex has it.
  [[nodiscard]] int add_vertex(const ObjectReader& reader, const std::string& name);
  /// The vertex of this name, as `key` has it; -1 if there is none (which is reported).
  [[nodiscard]] int vertex_of(ObjectReader& reader, std::string_view key, const std::string& name);
  /// The port, 0 if it is left open.
  [[nodiscard]] int port_of(ObjectReader& reader, std::string_view key, std::optional<int> port,
                            int vertex);

  ObjectReader& reader_;
  GraphDefaults defaults_;
  std::vector<GraphVertex> vertices_;
  std::unordered_map<std::string, int> numbers_;  ///< of vertices, by name
  std::vector<std::vector<int>> nodes_;
  std::vector<std::string> domain_names_;  ///< of nodes; empty where it is not said
  std::unordered_map<std::string, std::size_t> node_numbers_;
  std::unordered_set<std::string> hosts_;
  std::vector<int> host_ports_;
  std::vector<GraphCable> cables_;
  GraphPorts ports_;
};

}  // namespace headway
