#pragma once

#include <vector>

#include "sim/programs/flows/plan_builder.h"

namespace headway {

/// The members of a group that share a scale-up domain, in the order in which domains first appear.
using Domains = std::vector<std::vector<std::int32_t>>;
[[nodiscard]] Domains by_domain(const Cluster& cluster, const std::vector<std::int32_t>& members);

/// Lays one group's collective over domains, rails and the fabric (`collective_plan` says how) and
/// returns its latency: that of all its steps, one after the other. Requires two members or more
/// and an algorithm that the kind has.
[[nodiscard]] Seconds add_collective(PlanBuilder& builder, const Cluster& cluster,
                                     const NetworkCosts& costs, CollectiveKind kind,
                                     CollectiveAlgorithm algorithm,
                                     const std::vector<std::int32_t>& members);

}  // namespace headway
