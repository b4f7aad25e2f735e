#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/network/fabrics/transport.h"
#include "sim/network/routing/routing.h"
#include "sim/network/site_record.h"
#include "sim/network/topology.h"

namespace headway {

struct TorusShape;

/// Who made a node's processors; `other` where nobody says, too.
enum class HostProcessor { other, intel, amd };

/// A kind of machine: accelerators joined by a scale-up fabric, and NICs.
struct NodeType {
  std::string name;
  std::string accelerator;  ///< as profiles name it ("h100-sxm")
  int accelerators = 1;
  /// What one accelerator sends (and at once receives) inside the scale-up domain; 0 for a node
  /// with one accelerator and no scale-up fabric.
  BytesPerSecond scale_up_bandwidth;
  Seconds scale_up_latency;
  bool scale_up_reduces = false;  ///< its switches add up what passes (NVLink SHARP)
  HostProcessor processor = HostProcessor::other;
  Bytes host_memory;  ///< of its processors, for all accelerators; 0 where nobody says
  int nics = 1;
  BytesPerSecond nic_bandwidth;
  BytesPerSecond nic_bus_bandwidth;  ///< what PCIe carries to one NIC and at once from it
  Seconds nic_latency;               ///< from accelerator memory onto the wire, one way
  std::vector<int> nearest_nic;      ///< of each accelerator, in [0, nics)
  /// What an accelerator sends goes by so many NICs in equal parts, side by side from its nearest.
  int nics_of_accelerator = 1;
  FabricTransport transport = {};  ///< of the fabric that it stands on
};

/// The machines and the fabric between them. Immutable once read; shared by all runs on it. Stays
/// where it was made, because the routing refers to the topology.
struct Cluster {
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::string name;
  NodeType node_type;  ///< of node 0, and where nothing else is said of all nodes
  /// Where nodes differ: the other types, each as wide as the first (as many accelerators and NICs,
  /// side by side alike, in as large a scale-up domain), and which one each node is of.
  std::vector<NodeType> other_types;
  std::vector<int> kind_of_node;  ///< 0 the first type; empty where all nodes are of it
  int nodes = 1;
  /// Accelerators that reach each other without a NIC: consecutive ones, but where `domain_of_node`
  /// says which; then those of the largest domain.
  int scale_up_domain = 1;
  std::vector<int> domain_of_node;  ///< as the file tells it; else empty
  Topology topology;
  std::unique_ptr<const Routing> routing;
  std::vector<VertexId> endpoints;  ///< of NIC `n` of node `i`: [i * nics + n]
  /// How the NICs stand where the fabric is a torus of them; else null.
  std::shared_ptr<const TorusShape> torus;

  /// NICs of different numbers are not joined: what is for another rail is handed to the node's own
  /// accelerator there first, as NCCL does (PXN).
  bool rails_only = false;

  SiteRecord site;  ///< hosts and their ports, and what the site calls things

  [[nodiscard]] int accelerators() const { return nodes * node_type.accelerators; }
  /// The NIC port that an accelerator (counted through the cluster) sends by: of several the one of
  /// that part, in [0, nics_of_accelerator).
  [[nodiscard]] VertexId endpoint_of(int accelerator, int part = 0) const;
  /// The NIC port by which an accelerator reaches another one: its own, or where rails are not
  /// joined, the port of its node on the other's rail.
  [[nodiscard]] VertexId endpoint_towards(int accelerator, int other, int part = 0) const;
  /// The port of an accelerator's node on the rail of another one.
  [[nodiscard]] VertexId endpoint_on_rail_of(int accelerator, int other, int part = 0) const;
  [[nodiscard]] int node_of(int accelerator) const { return accelerator / node_type.accelerators; }
  [[nodiscard]] int domain_of(int accelerator) const {
    return domain_of_node.empty() ? accelerator / scale_up_domain
                                  : domain_of_node[static_cast<std::size_t>(node_of(accelerator))];
  }

  /// Types of nodes, counted from that of node 0.
  [[nodiscard]] int kinds() const { return 1 + static_cast<int>(other_types.size()); }
  [[nodiscard]] const NodeType& type_of_kind(int kind) const {
    return kind == 0 ? node_type : other_types[static_cast<std::size_t>(kind) - 1];
  }
  /// The accelerators of all nodes: "h100-sxm", or of several kinds "h100-sxm and a100-sxm".
  [[nodiscard]] std::string accelerator_names() const;
  /// Likewise what reports call the types.
  [[nodiscard]] std::string type_names() const;
  /// The kind of the node that an accelerator stands in.
  [[nodiscard]] int kind_of(int accelerator) const {
    return kind_of_node.empty() ? 0 : kind_of_node[static_cast<std::size_t>(node_of(accelerator))];
  }
  [[nodiscard]] const NodeType& type_of(int accelerator) const {
    return type_of_kind(kind_of(accelerator));
  }
};

}  // namespace headway
