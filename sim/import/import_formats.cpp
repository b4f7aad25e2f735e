#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/utf8.h"
#include "sim/files/kinds/foreign_text.h"
#include "sim/import/import_format.h"
#include "sim/import/line_reader.h"
#include "sim/import/node_domains.h"

namespace headway {

// Each is defined in the file that bears its name.
Importer import_graphml;
Importer import_infiniband;
Importer import_lldp;
Importer import_nccl_xml;
Importer import_slurm;
Importer import_topo_matrix;

namespace {

constexpr std::string_view kOfInfiniBand[] = {"node", "domains", "domain-pattern"};
constexpr std::string_view kOfLldp[] = {"node", "bandwidth", "domains", "domain-pattern"};
constexpr std::string_view kOfSlurm[] = {"node",    "bandwidth",     "nics", "oversubscription",
                                         "domains", "domain-pattern"};
constexpr std::string_view kOfGraphMl[] = {"bandwidth"};
constexpr std::string_view kOfNode[] = {"accelerator", "bandwidth", "scale-up-bandwidth"};

constexpr ImportFormat kImportFormats[] = {
    {"ibnetdiscover", import_infiniband, ImportedKind::topology,
     "ibnetdiscover, with dump_fts or opensm-lfts.dump, a node name map, NCCL XML of a host",
     kOfInfiniBand, "nccl-xml"},
    {"iblinkinfo", import_infiniband, ImportedKind::topology,
     "iblinkinfo, or its option -l; the rest likewise", kOfInfiniBand, "nccl-xml"},
    {"opensm-subnet", import_infiniband, ImportedKind::topology,
     "opensm-subnet.lst; the rest likewise", kOfInfiniBand, "nccl-xml"},
    {"ibdiagnet", import_infiniband, ImportedKind::topology, "ibdiagnet2.db_csv; the rest likewise",
     kOfInfiniBand, "nccl-xml"},
    {"lldp", import_lldp, ImportedKind::topology,
     "`lldpcli -f json show neighbors`, one file a device", kOfLldp},
    {"sonic", import_lldp, ImportedKind::topology,
     "`show lldp table` or `show lldp neighbors`, one file a switch; the rest likewise", kOfLldp},
    {"slurm", import_slurm, ImportedKind::topology,
     "topology.conf or topology.yaml of Slurm, trees and blocks", kOfSlurm},
    {"graphml", import_graphml, ImportedKind::topology, "GraphML of a wide-area network",
     kOfGraphMl},
    {"nccl-xml", import_nccl_xml, ImportedKind::node, "NCCL_TOPO_DUMP_FILE of NCCL or RCCL",
     kOfNode},
    {"topo-matrix", import_topo_matrix, ImportedKind::node, "`nvidia-smi topo -m`", kOfNode},
};

bool reads(const ImportFormat& format, std::string_view other) {
  if (other == format.reads_besides || other == format.name) return true;
  const auto* const named = std::ranges::find(kImportFormats, other, &ImportFormat::name);
  return named != std::end(kImportFormats) && named->import == format.import;
}

/// Which of the files are plainly something else than the format's.
Diagnostics other_texts(const ImportFormat& format, const std::vector<std::string>& paths) {
  Diagnostics problems;
  for (const std::string& path : paths) {
    if (path == "-") continue;  // it is read already
    const std::string beginning = beginning_of(path);
    const ForeignText* const text = foreign_text(beginning);
    if (text == nullptr || !text->has_lines) continue;
    if (!text->format.empty() && reads(format, text->format)) continue;
    problems.add({.message = fmt::format("this is {}, which {} does not read", text->what,
                                         in_quotes(format.name)),
                  .location = {.file = path},
                  .help = std::string(text->help)});
  }
  return problems;
}

}  // namespace

std::span<const ImportFormat> import_formats() { return kImportFormats; }

std::optional<nlohmann::json> imported(const ImportFormat& format, const ImportRequest& request,
                                       Diagnostics& diagnostics) {
  Diagnostics found;
  auto made = format.import(request, found);
  if (!made) {
    // What an importer says of a file of another kind would lead astray.
    const Diagnostics others = other_texts(format, request.paths);
    diagnostics.append(others.has_errors() ? others : found);
    return made;
  }
  diagnostics.append(found);
  if (format.makes != ImportedKind::topology) return made;
  Diagnostics problems;
  NodeDomains domains = read_domains(request.domains, problems);
  if (!problems.has_errors() && !request.domain_pattern.empty()) {
    domains.merge(domains_by_pattern(request.domain_pattern, *made, problems));
  }
  apply_domains(domains, *made, problems);
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return made;
}

}  // namespace headway
