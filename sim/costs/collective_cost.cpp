#include "sim/costs/collective_cost.h"

#include <algorithm>
#include <bit>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Levels below the root of a binary tree of `ranks`: ceil(log2(ranks)).
int tree_depth(int ranks) {
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

CollectiveVolume ring_volume(CollectiveKind kind, int ranks) {
  const double others_share = (ranks - 1.0) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return {2.0 * others_share, 2 * (ranks - 1)};
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return {others_share, ranks - 1};
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return {1.0, ranks - 1};
    case CollectiveKind::send_receive:
      return {1.0, 1};
  }
  HEADWAY_CHECK(false, "unknown collective");
}

}  // namespace

bool is_of_messages(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::send_receive ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

bool has_algorithm(CollectiveKind kind, CollectiveAlgorithm algorithm) {
  if (algorithm == CollectiveAlgorithm::ring) return true;
  const bool is_half = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  if (algorithm == CollectiveAlgorithm::pat) return is_half;
  return kind == CollectiveKind::all_reduce || (is_half && algorithm == CollectiveAlgorithm::torus);
}

CollectiveVolume collective_volume(CollectiveKind kind, CollectiveAlgorithm algorithm, int ranks) {
  HEADWAY_CHECK(ranks >= 1, "a collective of no ranks");
  HEADWAY_CHECK(has_algorithm(kind, algorithm), "the collective does not run by that algorithm");
  if (ranks == 1) return {};
  if (algorithm == CollectiveAlgorithm::ring) return ring_volume(kind, ranks);
  if (algorithm == CollectiveAlgorithm::torus) return {ring_volume(kind, ranks).bytes_factor, 1};
  if (algorithm == CollectiveAlgorithm::tree) {
    return {std::min(2.0, ranks / 2.0), 2 * tree_depth(ranks)};
  }
  return {1.0, 1};
}

Seconds collective_time(CollectiveKind kind, CollectiveAlgorithm algorithm, Bytes message,
                        int ranks, const LinkCost& link) {
  const CollectiveVolume volume = collective_volume(kind, algorithm, ranks);
  if (volume.steps == 0) return Seconds(0.0);
  HEADWAY_CHECK(link.bandwidth > BytesPerSecond(0.0), "a link without bandwidth");
  return volume.bytes_factor * message / link.bandwidth + volume.steps * link.latency;
}

double bus_bandwidth_factor(CollectiveKind kind, int ranks) {
  HEADWAY_CHECK(ranks >= 1, "a collective of no ranks");
  const double others_share = (ranks - 1.0) / ranks;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2.0 * others_share;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return others_share;
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::send_receive:
      return 1.0;
  }
  HEADWAY_CHECK(false, "unknown collective");
}

}  // namespace headway
