#include "sim/import/infiniband/import_infiniband.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/utf8.h"
#include "sim/import/infiniband/forwarding_dump.h"
#include "sim/import/infiniband/ibdiagnet_csv.h"
#include "sim/import/infiniband/iblinkinfo.h"
#include "sim/import/infiniband/ibnetdiscover.h"
#include "sim/import/infiniband/infiniband_graph.h"
#include "sim/import/infiniband/node_name_map.h"
#include "sim/import/infiniband/port_guids.h"
#include "sim/import/infiniband/subnet_list.h"

namespace headway {
namespace {

struct Dumps {
  InfiniBandFabric fabric;
  ForwardingTables tables;
  NodeNameMap names;
  std::vector<std::string> node_files;  ///< topologies of NCCL
};

/// A dump of a discovery, and how it is told from others.
struct DiscoveryKind {
  bool (*is_line)(std::string_view line);
  void (*read)(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
               Diagnostics& diagnostics);
};
// The first that knows a line: those of ibnetdiscover begin like many others.
constexpr DiscoveryKind kDiscoveries[] = {{is_iblinkinfo_line, read_iblinkinfo},
                                          {is_subnet_list_line, read_subnet_list},
                                          {is_ibdiagnet_line, read_ibdiagnet_csv},
                                          {is_ibnetdiscover_line, read_ibnetdiscover}};

/// Reads one file, whichever kind it is of.
void read_dump(const std::string& path, Dumps& dumps, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.all().size();
  LineReader lines(path, diagnostics);
  std::string_view line;
  while (lines.next(line)) {
    if (is_forwarding_line(line)) {
      return read_forwarding_dump(lines, line, dumps.tables, diagnostics);
    }
    for (const DiscoveryKind& kind : kDiscoveries) {
      if (!kind.is_line(line)) continue;
      dumps.fabric.begin_discovery();
      return kind.read(lines, line, dumps.fabric, diagnostics);
    }
    if (is_name_map_line(line)) return read_name_map(lines, line, dumps.names, diagnostics);
    const std::size_t text = line.find_first_not_of(" \t");
    if (text == std::string_view::npos || line[text] == '#') continue;
    if (line[text] == '<') return dumps.node_files.push_back(path);
    diagnostics.add(lines.problem("the file is no dump that is known",
                                  "give the output of ibnetdiscover, iblinkinfo or ibdiagnet, or "
                                  "opensm-subnet.lst, and of dump_fts or opensm-lfts.dump"));
    return;
  }
  if (diagnostics.all().size() != before) return;
  Diagnostic problem;
  problem.message = "the file is empty";
  problem.location.file = path;
  problem.help =
      "did the command that was to write it fail? ibnetdiscover and its like need a host of the "
      "fabric, and rights on its ports";
  diagnostics.add(std::move(problem));
}

void apply_names(const NodeNameMap& names, InfiniBandFabric& fabric, Diagnostics& diagnostics) {
  int unused = 0;
  for (const auto& [guid, name] : names) {
    const int number = fabric.find(guid);
    if (number == -1) {
      ++unused;
    } else {
      fabric.node(number).description = printable(name);
    }
  }
  if (unused == 0) return;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.message = fmt::format("names of GUIDs that were not discovered: {}", unused);
  diagnostics.add(std::move(warning));
}

}  // namespace

std::optional<nlohmann::json> import_infiniband(const ImportRequest& request,
                                                Diagnostics& diagnostics) {
  Dumps dumps;
  Diagnostics problems;
  for (const std::string& path : request.paths) read_dump(path, dumps, problems);
  nlohmann::json topology;
  if (!problems.has_errors()) {
    apply_names(dumps.names, dumps.fabric, problems);
    nlohmann::json node = node_type_of_hosts(dumps.node_files, request, dumps.fabric, problems);
    if (!request.node.empty()) node = request.node;
    if (!problems.has_errors()) {
      topology = infiniband_graph(
          {.name = request.name, .node = std::move(node), .source = request.paths.front()},
          dumps.fabric, dumps.tables, problems);
    }
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return topology;
}

}  // namespace headway
