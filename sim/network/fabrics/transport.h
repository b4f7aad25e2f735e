#pragma once

#include <optional>

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/files/json_reader.h"

namespace headway {

/// How messages cross a fabric. `unstated` counts as InfiniBand; of `other` only is known that it
/// is none of these.
enum class TransportKind { unstated, infiniband, roce, tcp, efa_v1, efa, slingshot, other };
template <>
inline constexpr Word<TransportKind> kWords<TransportKind>[] = {
    {"infiniband", TransportKind::infiniband},
    {"roce", TransportKind::roce},
    {"tcp", TransportKind::tcp},
    {"efa-v1", TransportKind::efa_v1},
    {"efa", TransportKind::efa},
    {"slingshot", TransportKind::slingshot},
    {"other", TransportKind::other}};

/// What messages of a collective library meet on a transport, beyond a NIC's rate and the latencies
/// of cables and switches. Where nothing else is said that of InfiniBand, of which NCCL's own
/// constants are.
struct TransportCosts {
  /// What large transfers reach of the NIC's rate, framing taken off.
  double goodput = 0.98;
  /// How much longer than over InfiniBand a message of a low-latency protocol takes (LL, LL128).
  Seconds message_latency{0.0};
  /// The same of one that fills buffers: a step of protocol Simple.
  Seconds bulk_latency{0.0};
  /// How much longer the host takes to post one of many messages.
  Seconds posting{0.0};
  /// The share of the goodput that messages to many peers at once reach.
  double spread_share = 1.0;
  bool carries_flags = true;  ///< keeps 8 bytes in order: LL is safe
  bool carries_lines = true;  ///< keeps 128 bytes in order: LL128 is safe
  /// What one connection carries; a ring or a tree has one to a neighbour on each NIC. Nothing if
  /// as much as the NIC.
  std::optional<BytesPerSecond> connection = {};
  /// Connections of a NIC that are busy at once where everybody sends to everybody, of those it has
  /// to every peer.
  double spread_connections = 2.0;
  /// What encrypts a NIC's messages and decrypts them, as one after the other: a core (TLS, IPsec)
  /// or the NIC (MACsec). Nothing if they go in the clear.
  std::optional<BytesPerSecond> encryption = {};
  Seconds encryption_latency{0.0};  ///< of a message, both ends together
};

/// The constants of a transport; their sources stand in transport.cpp. `other` has none of its own.
[[nodiscard]] TransportCosts transport_costs(TransportKind transport);

/// Whether its switches hash flows onto paths unless they are told otherwise: those of Ethernet.
[[nodiscard]] constexpr bool hashes_by_default(TransportKind transport) {
  return transport == TransportKind::roce || transport == TransportKind::tcp;
}

/// What a fabric says of its transport.
struct FabricTransport {
  TransportKind kind = TransportKind::unstated;
  TransportCosts costs = {};
  bool reduces = true;  ///< switches add up what passes them (NVIDIA SHARP)
};
/// Reads "transport" of a fabric, and what its "transport_costs" say otherwise.
[[nodiscard]] FabricTransport read_transport(ObjectReader& reader);

}  // namespace headway
