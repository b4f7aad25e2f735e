#include "sim/import/infiniband/port_guids.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/import/import_nccl_xml.h"
#include "sim/import/infiniband/infiniband_names.h"

namespace headway {
namespace {

std::uint64_t with_bytes_reversed(std::uint64_t value) {
  std::uint64_t reversed = 0;
  for (int byte = 0; byte < 8; ++byte, value >>= 8) reversed = reversed << 8 | (value & 0xff);
  return reversed;
}

/// The adapter of each GUID, of a port or its own.
std::unordered_map<std::uint64_t, int> adapters_by_guid(const InfiniBandFabric& fabric) {
  std::unordered_map<std::uint64_t, int> adapters;
  for (int number = 0; number < static_cast<int>(fabric.nodes().size()); ++number) {
    const InfiniBandNode& node = fabric.node(number);
    if (node.kind != InfiniBandNode::Kind::channel_adapter) continue;
    adapters.emplace(node.guid, number);
    for (const auto& [port, guid] : node.port_guids) adapters.emplace(guid, number);
  }
  return adapters;
}

/// A card of the file where the fabric has it, or what is missing.
struct Match {
  std::vector<int> adapters;  ///< of the cards that were found, in the order of the file
  std::size_t cards = 0;
};

Match match_of(const NcclSystem& system, const InfiniBandFabric& fabric) {
  const auto adapters = adapters_by_guid(fabric);
  Match match{.cards = system.nics.size()};
  for (const NcclSystem::Nic& nic : system.nics) {
    for (const NcclSystem::Port& port : nic.ports) {
      auto found = adapters.find(port.guid);
      if (found == adapters.end()) found = adapters.find(with_bytes_reversed(port.guid));
      if (found == adapters.end()) continue;
      match.adapters.push_back(found->second);
      break;
    }
  }
  return match;
}

/// The importer numbers a host's NICs by name; NCCL numbers cards by where they are plugged in.
/// Brings "nearest" from the one order to the other.
void renumber_nearest(const Match& match, const InfiniBandFabric& fabric, nlohmann::json& type) {
  if (match.adapters.size() != match.cards || !type["nics"].contains("nearest")) return;
  std::vector<int> by_name = match.adapters;
  std::ranges::stable_sort(by_name, [&](int a, int b) {
    return comes_before(fabric.node(a).description, fabric.node(b).description);
  });
  for (nlohmann::json& nic : type["nics"]["nearest"]) {
    const int adapter = match.adapters[nic.get<std::size_t>()];
    nic = std::ranges::find(by_name, adapter) - by_name.begin();
  }
}

}  // namespace

nlohmann::json node_type_of_hosts(const std::vector<std::string>& files,
                                  const ImportRequest& request, const InfiniBandFabric& fabric,
                                  Diagnostics& diagnostics) {
  nlohmann::json type;
  for (const std::string& path : files) {
    const auto system = read_nccl_system(path, diagnostics);
    if (!system) continue;
    const Match match = match_of(*system, fabric);
    Diagnostic problem;
    problem.location.file = path;
    if (match.adapters.empty()) {
      problem.message =
          "no port of the file is on the fabric, by GUID in either order of its bytes";
      problem.help =
          "give what NCCL_TOPO_DUMP_FILE wrote on a host of this fabric, or leave it out";
      diagnostics.add(std::move(problem));
      continue;
    }
    if (match.adapters.size() < match.cards) {
      problem.severity = Severity::warning;
      problem.message = fmt::format("cards that are not on the fabric: {} of {}",
                                    match.cards - match.adapters.size(), match.cards);
      diagnostics.add(problem);
    }
    ImportRequest of_host = request;
    of_host.paths = {path};
    of_host.name = "imported";
    nlohmann::json found = nccl_node_type(*system, of_host, path, diagnostics);
    if (found.is_null()) continue;
    renumber_nearest(match, fabric, found);
    const std::string source = found["source"];
    found.erase("source");
    nlohmann::json known = type;
    if (!known.is_null()) known.erase("source");
    if (!known.is_null() && known != found) {
      problem.severity = Severity::error;
      problem.message = "the host is of another kind than the one of the file before";
      problem.help =
          "give the file of one host; a topology may be given nodes of several types by hand";
      diagnostics.add(std::move(problem));
      continue;
    }
    type = std::move(found);
    type["source"] = source;
  }
  return type;
}

}  // namespace headway
