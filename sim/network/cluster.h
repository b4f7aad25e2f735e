#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/network/routing/routing.h"
#include "sim/network/site_record.h"
#include "sim/network/topology.h"

namespace headway {

/// Whose processors a node has. `other` is unknown too.
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
  int nics = 1;
  BytesPerSecond nic_bandwidth;
  BytesPerSecond nic_bus_bandwidth;  ///< what PCIe carries to one NIC and at once from it
  Seconds nic_latency;               ///< from accelerator memory onto the wire, one way
  std::vector<int> nearest_nic;      ///< of each accelerator, in [0, nics)
};

/// The machines and the fabric between them. Immutable once read; shared by all runs on it. Stays
/// where it was made, because the routing refers to the topology.
struct Cluster {
  Cluster() = default;
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  std::string name;
  NodeType node_type;
  int nodes = 1;
  int scale_up_domain = 1;  ///< accelerators that reach each other without a NIC; consecutive ones
  Topology topology;
  std::unique_ptr<const Routing> routing;
  std::vector<VertexId> endpoints;  ///< of NIC `n` of node `i`: [i * nics + n]

  /// NICs of different numbers are not joined: what is for another rail is handed to the node's own
  /// accelerator there first, as NCCL does (PXN).
  bool rails_only = false;

  SiteRecord site;  ///< hosts and their ports, and what the site calls things

  [[nodiscard]] int accelerators() const { return nodes * node_type.accelerators; }
  /// The NIC port that an accelerator (counted through the cluster) sends by.
  [[nodiscard]] VertexId endpoint_of(int accelerator) const;
  /// The NIC port by which an accelerator reaches another one: its own, or where rails are not
  /// joined, the port of its node on the other's rail.
  [[nodiscard]] VertexId endpoint_towards(int accelerator, int other) const;
  /// The port of an accelerator's node on the rail of another one.
  [[nodiscard]] VertexId endpoint_on_rail_of(int accelerator, int other) const;
  [[nodiscard]] int node_of(int accelerator) const { return accelerator / node_type.accelerators; }
  [[nodiscard]] int domain_of(int accelerator) const { return accelerator / scale_up_domain; }
};

}  // namespace headway
