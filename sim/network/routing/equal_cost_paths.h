#pragma once

#include <memory>

#include "sim/network/routing/path_choices.h"
#include "sim/network/routing/routing_kind.h"

namespace headway {

/// The paths of equal cost of a fabric: on a Clos fabric that is all up the shortest ones in closed
/// form, on a dragonfly the minimal ones, else the shortest ones by search.
[[nodiscard]] std::unique_ptr<const PathChoices> equal_cost_paths(const RoutingRequest& request);

/// Appends the links on all such paths from `from` to `to`, where every vertex splits what it
/// gets equally over its next links, as switches do that spread packets over their least loaded
/// ports. `amount` is the share of the flow that is sent. False, and nothing is appended, if there
/// is no path.
[[nodiscard]] bool append_split(const PathChoices& paths, const Topology& topology, VertexId from,
                                VertexId to, double amount, std::vector<LinkShare>& route);

/// The same where some links are slower than others: a vertex gives each of its next links a share
/// in proportion to what the ways behind it carry, each as much as its slowest link, on average.
/// What all ways have in common, before the endpoint, does not count. Of links that carry as much
/// the shares are equal to the last bit.
[[nodiscard]] bool append_split_by_width(const PathChoices& paths, const Topology& topology,
                                         VertexId from, VertexId to, double amount,
                                         std::vector<LinkShare>& route);

/// Whether all cables between switches of two tiers have one rate, so that no way is wider.
[[nodiscard]] bool is_evenly_wide(const Topology& topology);

}  // namespace headway
