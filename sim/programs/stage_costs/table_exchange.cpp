#include "sim/programs/stage_costs/table_exchange.h"

#include <algorithm>

#include "sim/layers/tables.h"
#include "sim/programs/stage_costs/group_link.h"

namespace headway {
namespace {

/// To post one of the messages of an all-to-all (NCCL posts all at once; sim/programs/README.md).
constexpr Seconds kPost(1e-6);

int group_of(const RankShape& shape) {
  return static_cast<int>(shape.tables.placement == TablePlacement::row
                              ? shape.table_ranks
                              : std::min<double>(shape.tables.group, shape.table_ranks));
}

}  // namespace

TableExchange table_exchange(const Layer& layer, const Profile& profile, const NodeType& node,
                             const GroupPlace& place, const RankShape& shape, Seconds beside,
                             double wire_efficiency) {
  const TableMessages messages = table_messages(layer, shape);
  TableExchange exchange;
  if (messages.summed + messages.swapped == Bytes(0.0)) return exchange;
  const int ranks = place.ranks();
  const int group = group_of(shape);
  const GroupLink inside = group_link(node, profile, GroupPlace{{place.most()}}, 1.0);
  if (!place.crosses()) {
    exchange.time = messages.summed > Bytes(0.0)
                        ? inside.time(CollectiveKind::reduce_scatter, messages.summed, group)
                        : Seconds(0.0);
    if (messages.swapped > Bytes(0.0)) {
      exchange.time += inside.time(CollectiveKind::all_to_all, messages.swapped, ranks);
    }
  } else {
    const GroupLink across = group_link(node, profile, place, nics_of_rank(node));
    // Groups inside a domain add up there; what larger ones add up crosses like the rest.
    const bool adds_up_inside = place.most() % group == 0;
    const Bytes crossing = messages.swapped + (adds_up_inside ? Bytes(0.0) : messages.summed);
    if (adds_up_inside && group > 1) {
      exchange.time = inside.time(CollectiveKind::reduce_scatter, messages.summed, group);
    }
    const double leaving = static_cast<double>(ranks - place.fewest()) / ranks;
    const double staying = std::max(0, place.fewest() - group) / static_cast<double>(ranks);
    const Seconds on_fabric =
        leaving * crossing / (profile.scale_out.bandwidth_efficiency.value * across.wire);
    const int other_groups = ranks / group - 1;
    exchange.time += across.overhead + across.step.latency + other_groups * kPost +
                     max(on_fabric, staying * crossing / inside.step.bandwidth);
    exchange.sent = crossing;
    exchange.rate = crossing / on_fabric;
    exchange.wire = wire_efficiency * across.wire / leaving;
  }
  exchange.seen = max(exchange.time - beside, Seconds(0.0));
  exchange.share_seen = exchange.seen / exchange.time;
  return exchange;
}

}  // namespace headway
