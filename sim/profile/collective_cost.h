#pragma once

#include <string_view>

#include "sim/base/units.h"

namespace headway {

enum class CollectiveKind { all_reduce, all_gather, reduce_scatter, broadcast, all_to_all, send_receive };
[[nodiscard]] std::string_view collective_name(CollectiveKind kind);  ///< "all_reduce"

enum class CollectiveAlgorithm { ring, tree };
[[nodiscard]] std::string_view algorithm_name(CollectiveAlgorithm algorithm);

/// One step of a point-to-point transfer between neighbours.
struct LinkCost {
  Seconds latency;           ///< time of an empty message: wire, NIC and protocol together
  BytesPerSecond bandwidth;  ///< what a message of unlimited size would reach
};

/// How much one rank sends, as a multiple of the message size of nccl-tests (the whole buffer of an
/// all-reduce, the gathered or the unreduced buffer of the other two, one rank's buffer of an
/// all-to-all), and in how many steps one after the other. Closed forms: Thakur, Rabenseifner,
/// Gropp 2005; double binary trees: Sanders, Speck, Traeff 2009 as NCCL uses them.
struct CollectiveVolume {
  double bytes_factor = 0.0;
  int steps = 0;
};
[[nodiscard]] CollectiveVolume collective_volume(CollectiveKind kind, CollectiveAlgorithm algorithm,
                                                 int ranks);

/// Time of a collective on an idle network of equal neighbours: bytes_factor * message / bandwidth +
/// steps * latency. One rank takes no time. The simulated collective must meet it on an idle
/// network; contention and stragglers are what the simulation adds. Requires ranks >= 1.
[[nodiscard]] Seconds collective_time(CollectiveKind kind, CollectiveAlgorithm algorithm,
                                      Bytes message, int ranks, const LinkCost& link);

/// The faster of ring and tree, which is how NCCL chooses between them (src/graph/tuning.cc).
[[nodiscard]] CollectiveAlgorithm faster_algorithm(CollectiveKind kind, Bytes message, int ranks,
                                                   const LinkCost& link);

/// nccl-tests' bus bandwidth factor: bus = algorithm bandwidth times this (its PERFORMANCE.md).
[[nodiscard]] double bus_bandwidth_factor(CollectiveKind kind, int ranks);

}  // namespace headway
