#include <nlohmann/json.hpp>

#include "sim/import/import_format.h"
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
    {"ibnetdiscover", import_infiniband, false,
     "ibnetdiscover, with dump_fts or opensm-lfts.dump, a node name map, NCCL XML of a host",
     kOfInfiniBand},
    {"iblinkinfo", import_infiniband, false, "iblinkinfo, or its option -l; the rest likewise",
     kOfInfiniBand},
    {"opensm-subnet", import_infiniband, false, "opensm-subnet.lst; the rest likewise",
     kOfInfiniBand},
    {"ibdiagnet", import_infiniband, false, "ibdiagnet2.db_csv; the rest likewise", kOfInfiniBand},
    {"lldp", import_lldp, false, "`lldpcli -f json show neighbors`, one file a device", kOfLldp},
    {"sonic", import_lldp, false,
     "`show lldp table` or `show lldp neighbors`, one file a switch; the rest likewise", kOfLldp},
    {"slurm", import_slurm, false, "topology.conf or topology.yaml of Slurm, trees and blocks",
     kOfSlurm},
    {"graphml", import_graphml, false, "GraphML of a wide-area network", kOfGraphMl},
    {"nccl-xml", import_nccl_xml, true, "NCCL_TOPO_DUMP_FILE of NCCL or RCCL", kOfNode},
    {"topo-matrix", import_topo_matrix, true, "`nvidia-smi topo -m`", kOfNode},
};

}  // namespace

std::span<const ImportFormat> import_formats() { return kImportFormats; }

std::optional<nlohmann::json> imported(const ImportFormat& format, const ImportRequest& request,
                                       Diagnostics& diagnostics) {
  auto made = format.import(request, diagnostics);
  if (!made || format.makes_node) return made;
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
