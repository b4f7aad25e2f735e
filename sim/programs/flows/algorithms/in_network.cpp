#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// NVIDIA SHARP: on each rail a tree of switches along the routes to the first domain, for its part
/// of the message, on which each link carries a sum once up and once down; inside a domain the
/// parts are reduced before and gathered after, around rings.
Seconds lay_in_network(const GroupToLay& group) {
  const std::size_t rails = group.domains.smallest();
  Seconds longest;
  for (std::size_t rail = 0; rail < rails && group.domains.size() > 1; ++rail) {
    std::vector<std::int32_t> members;
    for (std::size_t d = 0; d < group.domains.size(); ++d) {
      members.push_back(group.domains[d][rail]);
    }
    longest = max(longest, group.builder.add_reduction(members, 1.0 / static_cast<double>(rails)));
  }
  return longest + lay_rings_inside(group);
}

std::string_view lack_of_in_network(const Cluster& cluster,
                                    std::span<const std::int32_t> /*members*/) {
  if (cluster.topology.switch_count() == 0) return "switches, and this fabric has none";
  if (cluster.node_type.transport.reduces) return {};
  return "switches that add up what passes them: NVIDIA SHARP over InfiniBand, or whatever makes "
         "\"reduces\" of the \"fabric\" true";
}

}  // namespace headway
