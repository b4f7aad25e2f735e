#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// The scale-up domain of nodes, by their names.
using NodeDomains = std::map<std::string, std::string>;

/// Reads which nodes are in one scale-up domain, in any of these ways: blocks of Slurm
/// (topology.conf of topology/block, topology.yaml); a list of hosts and a name on a line
/// ("nvl[01-18] rack1"); what hosts say of NVLink, each line behind the host's name as pdsh puts it
/// there
/// ("nvl01: ClusterUUID : ...", "nvl01: CliqueId : 1" of `nvidia-smi -q`).
[[nodiscard]] NodeDomains read_domains(const std::vector<std::string>& paths,
                                       Diagnostics& diagnostics);

/// Writes the domains into the endpoints of a topology whose fabric is a graph. A node type that
/// was assumed gets room for the largest. Names that no node has are a warning.
void apply_domains(const NodeDomains& domains, nlohmann::json& topology, Diagnostics& diagnostics);

/// The domains that a pattern tells: what its first group matches in the name of a node, or else in
/// that of a switch that the node is cabled to. A pattern that is none is an error.
[[nodiscard]] NodeDomains domains_by_pattern(const std::string& pattern,
                                             const nlohmann::json& topology,
                                             Diagnostics& diagnostics);

}  // namespace headway
