#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// The switches of each domain add up, so that a member sends and receives the message once; each
/// takes its part of the sum to the double binary trees of its rail.
Seconds lay_nvls(const GroupToLay& group) {
  group.builder.use_scale_up(1.0);
  return lay_trees_between(group, 1.0);
}

}  // namespace headway
