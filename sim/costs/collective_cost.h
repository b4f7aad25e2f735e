#pragma once

#include <string_view>

#include "sim/base/units.h"
#include "sim/base/words.h"

namespace headway {

enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  all_to_all,
  send_receive,
  reduce,
  gather,
  scatter
};

/// A way to run collectives, by its name: one of the table in sim/programs/flows/algorithms.
struct CollectiveAlgorithm {
  std::string_view name;
  friend constexpr bool operator==(const CollectiveAlgorithm&,
                                   const CollectiveAlgorithm&) = default;

  static const CollectiveAlgorithm ring;
  static const CollectiveAlgorithm tree;
  static const CollectiveAlgorithm hierarchical;
  static const CollectiveAlgorithm nvls;
  static const CollectiveAlgorithm in_network;
  static const CollectiveAlgorithm pat;
  static const CollectiveAlgorithm torus;
};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::ring{"ring"};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::tree{"tree"};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::hierarchical{"hierarchical"};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::nvls{"nvls"};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::in_network{"in_network"};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::pat{"pat"};
inline constexpr CollectiveAlgorithm CollectiveAlgorithm::torus{"torus"};

/// Everything runs as a ring (what is made of messages, `is_of_messages`, counts as one);
/// all-gathers and reduce-scatters as parallel aggregated trees too, all-reduces as all others, all
/// three along the rings of a torus.
[[nodiscard]] bool has_algorithm(CollectiveKind kind, CollectiveAlgorithm algorithm);

/// Made of single messages, which have no ring: an all-to-all, a point-to-point transfer, what a
/// root gathers or scatters.
[[nodiscard]] bool is_of_messages(CollectiveKind kind);

/// What the price of a collective rests on (sim/programs/flows/collective_price.h).
enum class CollectiveLibrary {
  hardware,  ///< links and their latencies alone
  profile,   ///< what a profile measured, or knows of each scope
  nccl       ///< NCCL's own model of its protocols
};
/// Those that a job may ask for.
template <>
inline constexpr Word<CollectiveLibrary> kWords<CollectiveLibrary>[] = {
    {"profile", CollectiveLibrary::profile}, {"nccl", CollectiveLibrary::nccl}};

/// As nccl-tests calls its programs.
template <>
inline constexpr Word<CollectiveKind> kWords<CollectiveKind>[] = {
    {"all_reduce", CollectiveKind::all_reduce},
    {"all_gather", CollectiveKind::all_gather},
    {"reduce_scatter", CollectiveKind::reduce_scatter},
    {"broadcast", CollectiveKind::broadcast},
    {"all_to_all", CollectiveKind::all_to_all},
    {"send_recv", CollectiveKind::send_receive},
    {"reduce", CollectiveKind::reduce},
    {"gather", CollectiveKind::gather},
    {"scatter", CollectiveKind::scatter}};
/// As profiles and results spell it, and people read it.
[[nodiscard]] constexpr std::string_view collective_name(CollectiveKind kind) {
  return kind == CollectiveKind::send_receive ? "send_receive" : word_of(kind);
}

/// One step of a point-to-point transfer between neighbours.
struct LinkCost {
  Seconds latency;           ///< time of an empty message: wire, NIC and protocol together
  BytesPerSecond bandwidth;  ///< what a message of unlimited size would reach
};

/// How much the busiest rank sends, as a multiple of the message size of nccl-tests (the whole
/// buffer of an all-reduce, the gathered or the unreduced buffer of the other two, one rank's
/// buffer of an all-to-all, the root's of a gather or a scatter), and in how many steps one after
/// the other. Closed forms: Thakur, Rabenseifner, Gropp 2005; a broadcast and a reduce are
/// pipelined chains; what a root gathers or scatters passes it a rank at a time.
///
/// Double binary trees: Sanders, Speck, Traeff 2009 as NCCL uses them. Each of two trees reduces
/// half the message to its root and sends it down again, and a rank with children in one is a leaf
/// of the other: with two children it sends half a message up and two halves down, as a leaf half a
/// message up; together 2 messages, the ring's volume with its depth cut to the logarithm. Two
/// ranks send 1, three 3/2.
///
/// In the network (NVIDIA SHARP): switches add up what comes from below, so that each rank sends
/// the message once and receives the sum once, in one step up and down the tree of switches. Half
/// the bytes of the ring in the limit: an upper bound, as it leaves out what the switches'
/// arithmetic and streams cost.
///
/// Along the rings of a torus a rank sends what it sends in a ring, over all its links.
///
/// Others (NVLS, hierarchical ones, parallel aggregated trees) send different amounts inside a
/// domain and between domains, so the amount is the message, and the plan of flows says what part
/// of it each link carries.
struct CollectiveVolume {
  double bytes_factor = 0.0;
  int steps = 0;
};
/// Nothing is sent among one rank. Requires ranks >= 1 and an algorithm that the kind has.
[[nodiscard]] CollectiveVolume collective_volume(CollectiveKind kind, CollectiveAlgorithm algorithm,
                                                 int ranks);

/// Time of a collective on an idle network of equal neighbours: bytes_factor * message / bandwidth
/// + steps * latency. One rank takes no time. The simulated collective must meet it on an idle
/// network; contention and stragglers are what the simulation adds. Requires ranks >= 1.
[[nodiscard]] Seconds collective_time(CollectiveKind kind, CollectiveAlgorithm algorithm,
                                      Bytes message, int ranks, const LinkCost& link);

/// nccl-tests' bus bandwidth factor: bus = algorithm bandwidth times this (its PERFORMANCE.md).
[[nodiscard]] double bus_bandwidth_factor(CollectiveKind kind, int ranks);

}  // namespace headway
