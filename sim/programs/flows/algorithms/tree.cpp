#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// NCCL's double binary tree between domains, a chain inside each, up and down.
Seconds lay_tree(const GroupToLay& group) {
  const CollectiveVolume volume =
      collective_volume(group.kind, CollectiveAlgorithm::tree, group.ranks());
  const Seconds between = lay_trees_between(group, volume.bytes_factor);
  const std::size_t largest = group.domains.largest();
  if (largest > 1) group.builder.use_scale_up(1.0);
  return between + 2.0 * static_cast<double>(largest - 1) * group.costs.scale_up_latency;
}

}  // namespace headway
