#pragma once

#include <span>
#include <string_view>

#include "sim/programs/flows/collective_shapes.h"

namespace headway {

/// One group that runs a collective, and where its flow is laid.
struct GroupToLay {
  const Cluster& cluster;
  PlanBuilder& builder;
  std::span<const std::int32_t> members;
  const Domains& domains;  ///< the members by scale-up domain
  const NetworkCosts& costs;
  CollectiveKind kind = CollectiveKind::all_reduce;

  [[nodiscard]] int ranks() const { return static_cast<int>(members.size()); }
};

/// Lays an algorithm's flow over domains, rails and the fabric, and returns the latency of all its
/// steps. The flow's amount is `collective_volume(...).bytes_factor` messages: the message itself
/// for all but rings and trees, so that the weights say what part of it each link carries.
using AlgorithmLayout = Seconds(const GroupToLay& group);

/// What a group has not that an algorithm needs, as the end of "it needs"; empty where it has all.
using AlgorithmLack = std::string_view(const Cluster& cluster,
                                       std::span<const std::int32_t> members);

/// A way to run collectives.
struct AlgorithmKind {
  CollectiveAlgorithm algorithm;
  AlgorithmLayout* lay = nullptr;
  AlgorithmLack* lack = nullptr;  ///< null for one that runs anywhere
};
/// All of them.
[[nodiscard]] std::span<const AlgorithmKind> algorithm_kinds();
[[nodiscard]] const AlgorithmKind& kind_of(CollectiveAlgorithm algorithm);

/// The first lack of any of the groups.
[[nodiscard]] std::string_view lack_of(CollectiveAlgorithm algorithm, const Cluster& cluster,
                                       const CollectiveGroups& groups);

// What several algorithms are made of. Rings or trees that run side by side are as many as every
// domain has members to feed.

/// A reduce-scatter and an all-gather around a ring of each domain. Returns their latency.
Seconds lay_rings_inside(const GroupToLay& group);

/// Edges of the two trees between domains, each of which carries half the message, up and down,
/// spread over the rails. Returns the latency of the way to the root and back.
Seconds lay_trees_between(const GroupToLay& group, double bytes_factor);

}  // namespace headway
