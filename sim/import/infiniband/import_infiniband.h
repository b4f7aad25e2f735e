#pragma once

#include "sim/import/import_format.h"

namespace headway {

/// Reads dumps of one or more InfiniBand subnets, in any order and gzipped or not: `ibnetdiscover`
/// of each subnet, the forwarding tables of their switches (`dump_fts`, opensm-lfts.dump), maps
/// from GUIDs to names (`0x0002c9030009e180 "name"`, as OpenSM's node-name-map), and topologies
/// that NCCL dumped on hosts, whose ports are found by GUID and which tell the node type. Without
/// tables the fabric is routed by shortest paths, without a node type every host has an accelerator
/// for each NIC. Hosts join the subnets.
Importer import_infiniband;

}  // namespace headway
