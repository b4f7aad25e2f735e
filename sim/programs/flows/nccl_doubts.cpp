#include "sim/programs/flows/nccl_doubts.h"

#include <algorithm>
#include <iterator>

namespace headway {
namespace {

struct DoubtRow {
  TransportKind transport;
  bool of_messages;  ///< all-to-alls and their like; else rings and trees
  NcclDoubt doubt;
};

/// From the errors by size of `headway validate --collectives`, whose tables are few there.
constexpr DoubtRow kDoubts[] = {
    {TransportKind::slingshot,
     false,
     {8_KiB, 128_MiB,
      "tables of ALCF's Polaris over libfabric differ by two to ten times from one size, version "
      "and environment to the next"}},
    {TransportKind::slingshot,
     true,
     {Bytes(0.0), 8_KiB, "some tables of ALCF's Polaris have 130 us there and others 450"}},
    {TransportKind::tcp,
     false,
     {Bytes(0.0), 16_MiB,
      "tables of sockets on ALCF's Polaris differ threefold from one year to the next"}},
    {TransportKind::tcp,
     true,
     {1_MiB, 128_MiB,
      "sockets on ALCF's Polaris took a third longer there than smaller and larger messages tell"}},
    {TransportKind::efa_v1,
     false,
     {64_KiB + Bytes(1.0), 16_MiB,
      "the one table that is published took 20 to 45 % longer than smaller and larger messages "
      "tell"}},
};

}  // namespace

const NcclDoubt* nccl_doubt(TransportKind transport, CollectiveKind kind, Bytes message) {
  for (const DoubtRow& row : kDoubts) {
    if (row.transport != transport || row.of_messages != is_of_messages(kind)) continue;
    if (message >= row.doubt.from && message < row.doubt.below) return &row.doubt;
  }
  return nullptr;
}

bool has_nccl_doubts(TransportKind transport) {
  return std::ranges::find(kDoubts, transport, &DoubtRow::transport) != std::end(kDoubts);
}

}  // namespace headway
