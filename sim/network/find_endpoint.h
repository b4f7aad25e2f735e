#pragma once

#include <string>

#include "sim/base/diagnostic.h"
#include "sim/network/cluster.h"

namespace headway {

/// The endpoint of that name: as the topology calls it ("node7/nic3", "hpc1 mlx5_0/1"), by the
/// description of a NIC with one port ("hpc1 mlx5_0"), or by the GUID of the NIC or of its port
/// ("0x946dae0300e00001"). -1 if there is none or several, which is reported.
[[nodiscard]] VertexId find_endpoint(const Cluster& cluster, const std::string& name,
                                     Diagnostics& diagnostics);

/// What the site calls the switch or the NIC, without the port; else the topology's name.
[[nodiscard]] std::string site_description(const Cluster& cluster, VertexId vertex);

/// What the site calls the port that a link leaves by; empty if it has no name for it.
[[nodiscard]] std::string site_port(const Cluster& cluster, LinkId link);

}  // namespace headway
