#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/network/topology.h"

namespace headway {

/// What a site calls a switch or a NIC port; each may be empty.
struct SiteName {
  std::string description = {};  ///< of the switch or the NIC: its NodeDescription
  std::string guid = {};         ///< of the switch or the NIC
  std::string port_guid = {};    ///< of a NIC's port
  friend bool operator==(const SiteName&, const SiteName&) = default;
};

/// What is known of a fabric beyond nodes of one type: all hosts on it, and the names that its site
/// uses. A host is no node if it is not of the cluster's type (storage, login): no job runs there.
struct SiteRecord {
  int hosts = 0;
  std::vector<VertexId> host_ports = {};      ///< NIC ports of all hosts
  std::vector<SiteName> names = {};           ///< of each vertex; empty if the site has none
  std::vector<std::string> cable_rates = {};  ///< of each cable, "4xHDR"; empty if it has none
  /// Likewise of its ports, "swp51" at the end that stands first and at the other.
  std::vector<std::pair<std::string, std::string>> cable_ports = {};
};

}  // namespace headway
