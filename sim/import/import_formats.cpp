#include "sim/import/import_format.h"

namespace headway {

// Each is defined in the file that bears its name.
Importer import_graphml;
Importer import_infiniband;
Importer import_lldp;
Importer import_nccl_xml;
Importer import_slurm;
Importer import_topo_matrix;

namespace {

constexpr std::string_view kOfInfiniBand[] = {"node"};
constexpr std::string_view kOfLldp[] = {"node", "bandwidth"};
constexpr std::string_view kOfSlurm[] = {"node", "bandwidth", "nics", "oversubscription"};
constexpr std::string_view kOfGraphMl[] = {"bandwidth"};
constexpr std::string_view kOfNode[] = {"accelerator", "bandwidth", "scale-up-bandwidth"};

constexpr ImportFormat kImportFormats[] = {
    {"ibnetdiscover", import_infiniband, false,
     "ibnetdiscover, with dump_fts or opensm-lfts.dump, a node name map, NCCL XML of a host",
     kOfInfiniBand},
    {"lldp", import_lldp, false, "`lldpcli -f json show neighbors`, one file a device", kOfLldp},
    {"slurm", import_slurm, false, "topology.conf of Slurm", kOfSlurm},
    {"graphml", import_graphml, false, "GraphML of a wide-area network", kOfGraphMl},
    {"nccl-xml", import_nccl_xml, true, "NCCL_TOPO_DUMP_FILE of NCCL or RCCL", kOfNode},
    {"topo-matrix", import_topo_matrix, true, "`nvidia-smi topo -m`", kOfNode},
};

}  // namespace

std::span<const ImportFormat> import_formats() { return kImportFormats; }

}  // namespace headway
