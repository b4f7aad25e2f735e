#include <algorithm>

#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// The switches of each domain add up, so that a member sends and receives the message once; each
/// takes its part of the sum to the double binary trees of its rail.
Seconds lay_nvls(const GroupToLay& group) {
  group.builder.use_scale_up(1.0);
  return lay_trees_between(group, 1.0);
}

std::string_view lack_of_nvls(const Cluster& cluster, std::span<const std::int32_t> members) {
  const bool reduces = std::ranges::all_of(
      members, [&](std::int32_t member) { return cluster.type_of(member).scale_up_reduces; });
  if (reduces) return {};
  return "scale-up switches that add up what passes them: NVLink SHARP, where \"reduces\" of the "
         "node's \"scale_up\" is true";
}

}  // namespace headway
