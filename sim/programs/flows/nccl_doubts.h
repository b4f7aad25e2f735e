#pragma once

#include <string_view>

#include "sim/network/fabrics/transport.h"
#include "sim/programs/flows/collective_shapes.h"

namespace headway {

/// Messages of which published tables say too little, or contradict each other: what NCCL's model
/// says of them is off by more than a fifth.
struct NcclDoubt {
  Bytes from;   ///< this size and larger ones
  Bytes below;  ///< and smaller than that
  std::string_view because;
};

/// Why nobody knows what NCCL takes for a message of that size over the transport; null if it is
/// known. `headway validate --collectives` has the tables (tests/validation/README.md).
[[nodiscard]] const NcclDoubt* nccl_doubt(TransportKind transport, CollectiveKind kind,
                                          Bytes message);
/// Whether there are such sizes at all.
[[nodiscard]] bool has_nccl_doubts(TransportKind transport);

}  // namespace headway
