#pragma once

#include <vector>

#include "sim/costs/nccl_constants.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {

/// One way in which NCCL may run a collective.
struct NcclChoice {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  NetworkCosts costs;
  /// How long a byte beyond `kNcclFilledFrom` takes inside a node, of one below.
  double large_share = 1.0;
  /// As NCCL's own model has it, which knows InfiniBand at its full rate: what it chooses by.
  NetworkCosts believed;
};

/// Where a collective runs, as far as its costs know.
struct NcclPlace {
  int domains = 1;            ///< scale-up domains
  int largest_domain = 1;     ///< members in the largest
  bool is_rail_local = true;  ///< PXN, on by default since NCCL 2.12
};

/// What NCCL has to choose from for a collective on nodes of a type. Rings and trees run with all
/// three protocols, NVLS where the switches of the scale-up fabric reduce, parallel aggregated
/// trees where every rank has a node of its own; an all-to-all and a point-to-point transfer with
/// Simple. Constants and their sources: sim/costs/nccl_constants.h. Requires constants of the node
/// type's accelerator, and a transport that `knows_nccl_over`.
[[nodiscard]] std::vector<NcclChoice> nccl_choices(const NodeType& node_type, CollectiveKind kind,
                                                   const NcclPlace& place);

/// Whether anything is known of NCCL over a transport.
[[nodiscard]] bool knows_nccl_over(TransportKind transport);

}  // namespace headway
