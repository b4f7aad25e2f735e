#include "sim/cluster/import_infiniband.h"

#include <fmt/format.h>

#include "sim/cluster/forwarding_dump.h"
#include "sim/cluster/ibnetdiscover.h"
#include "sim/cluster/infiniband_graph.h"

namespace headway {
namespace {

/// Reads one file, whichever kind it is of.
void read_dump(const std::string& path, InfiniBandFabric& fabric, ForwardingTables& tables,
               Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.all().size();
  LineReader lines(path, diagnostics);
  std::string_view line;
  while (lines.next(line)) {
    if (is_forwarding_line(line)) return read_forwarding_dump(lines, line, tables, diagnostics);
    if (is_ibnetdiscover_line(line)) {
      if (fabric.nodes().empty()) return read_ibnetdiscover(lines, line, fabric, diagnostics);
      diagnostics.add(lines.problem("a second discovery: one subnet is read at a time"));
      return;
    }
    const std::size_t text = line.find_first_not_of(" \t");
    if (text == std::string_view::npos || line[text] == '#') continue;
    diagnostics.add(
        lines.problem("the file is no dump that is known",
                      "give the output of ibnetdiscover, and of dump_fts or opensm-lfts.dump"));
    return;
  }
  if (diagnostics.all().size() != before) return;
  Diagnostic problem;
  problem.message = "the file is empty";
  problem.location.file = path;
  diagnostics.add(std::move(problem));
}

}  // namespace

std::optional<nlohmann::json> import_infiniband(const std::vector<std::string>& paths,
                                                const std::string& name, const std::string& node,
                                                Diagnostics& diagnostics) {
  InfiniBandFabric fabric;
  ForwardingTables tables;
  Diagnostics problems;
  for (const std::string& path : paths) read_dump(path, fabric, tables, problems);
  std::optional<nlohmann::json> topology;
  if (!problems.has_errors()) {
    topology = infiniband_graph({.name = name, .node = node, .source = paths.front()}, fabric,
                                tables, problems);
  }
  const bool is_sound = !problems.has_errors();
  diagnostics.append(problems);
  return is_sound ? std::move(topology) : std::nullopt;
}

}  // namespace headway
