#include "sim/programs/flows/algorithms/algorithm.h"

#include "sim/programs/flows/binary_tree.h"

namespace headway {

// Each is defined in the file that bears its name.
AlgorithmLayout lay_ring;
AlgorithmLayout lay_tree;
AlgorithmLayout lay_hierarchical;
AlgorithmLayout lay_nvls;
AlgorithmLayout lay_in_network;
AlgorithmLayout lay_pat;

std::span<const AlgorithmKind> algorithm_kinds() {
  static constexpr AlgorithmKind kKinds[] = {
      {CollectiveAlgorithm::ring, lay_ring},
      {CollectiveAlgorithm::tree, lay_tree},
      {CollectiveAlgorithm::hierarchical, lay_hierarchical},
      {CollectiveAlgorithm::nvls, lay_nvls},
      {CollectiveAlgorithm::in_network, lay_in_network},
      {CollectiveAlgorithm::pat, lay_pat},
  };
  return kKinds;
}

Seconds lay_rings_inside(const GroupToLay& group) {
  const std::size_t largest = group.domains.largest();
  const auto others = static_cast<double>(largest - 1);
  if (largest > 1) group.builder.use_scale_up(2.0 * others / static_cast<double>(largest));
  return 2.0 * others * group.costs.scale_up_latency;
}

Seconds lay_trees_between(const GroupToLay& group, double bytes_factor) {
  Seconds per_hop;
  const Domains& domains = group.domains;
  const int count = static_cast<int>(domains.size());
  const std::size_t rails = domains.smallest();
  const double weight = 0.5 / bytes_factor / static_cast<double>(rails);
  for (const bool mirrored : {false, true}) {
    for (int node = 0; node < count; ++node) {
      const int parent = double_tree_parent(node, count, mirrored);
      if (parent < 0) continue;
      for (std::size_t rail = 0; rail < rails; ++rail) {
        const std::int32_t child_member = domains[static_cast<std::size_t>(node)][rail];
        const std::int32_t parent_member = domains[static_cast<std::size_t>(parent)][rail];
        per_hop = max(per_hop, group.builder.add(child_member, parent_member, weight));
        per_hop = max(per_hop, group.builder.add(parent_member, child_member, weight));
      }
    }
  }
  return 2.0 * static_cast<double>(double_tree_depth(count)) * per_hop;
}

}  // namespace headway
