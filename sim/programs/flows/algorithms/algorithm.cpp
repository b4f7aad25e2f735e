#include "sim/programs/flows/algorithms/algorithm.h"

#include <algorithm>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/programs/flows/binary_tree.h"

namespace headway {

// Each is defined in the file that bears its name.
AlgorithmLayout lay_ring;
AlgorithmLayout lay_tree;
AlgorithmLayout lay_hierarchical;
AlgorithmLayout lay_nvls;
AlgorithmLayout lay_in_network;
AlgorithmLayout lay_pat;
AlgorithmLayout lay_torus;
AlgorithmLack lack_of_nvls;
AlgorithmLack lack_of_in_network;
AlgorithmLack lack_of_torus;

std::span<const AlgorithmKind> algorithm_kinds() {
  static constexpr AlgorithmKind kKinds[] = {
      {CollectiveAlgorithm::ring, lay_ring},
      {CollectiveAlgorithm::tree, lay_tree},
      {CollectiveAlgorithm::hierarchical, lay_hierarchical},
      {CollectiveAlgorithm::nvls, lay_nvls, lack_of_nvls},
      {CollectiveAlgorithm::in_network, lay_in_network, lack_of_in_network},
      {CollectiveAlgorithm::pat, lay_pat},
      {CollectiveAlgorithm::torus, lay_torus, lack_of_torus},
  };
  return kKinds;
}

const AlgorithmKind& kind_of(CollectiveAlgorithm algorithm) {
  const std::span<const AlgorithmKind> kinds = algorithm_kinds();
  const auto known = std::ranges::find(kinds, algorithm, &AlgorithmKind::algorithm);
  HEADWAY_CHECK(known != kinds.end(), "unknown algorithm");
  return *known;
}

std::string_view lack_of(CollectiveAlgorithm algorithm, const Cluster& cluster,
                         const CollectiveGroups& groups) {
  AlgorithmLack* const lack = kind_of(algorithm).lack;
  for (const std::vector<std::int32_t>& members : groups) {
    const std::string_view lacking = lack == nullptr ? "" : lack(cluster, members);
    if (!lacking.empty()) return lacking;
  }
  return {};
}

Seconds lay_rings_inside(const GroupToLay& group) {
  const std::size_t largest = group.domains.largest();
  const auto others = static_cast<double>(largest - 1);
  if (largest > 1) group.builder.use_scale_up(2.0 * others / static_cast<double>(largest));
  return 2.0 * others * group.costs.scale_up_latency;
}

Seconds lay_trees_between(const GroupToLay& group, double bytes_factor) {
  Seconds longest;
  const Domains& domains = group.domains;
  const int count = static_cast<int>(domains.size());
  const std::size_t rails = domains.smallest();
  const double weight = 0.5 / bytes_factor / static_cast<double>(rails);
  for (const bool mirrored : {false, true}) {
    const auto parent_of = [&](int node) { return double_tree_parent(node, count, mirrored); };
    std::vector<Seconds> there_and_back(domains.size());  // from each domain to its parent
    for (int node = 0; node < count; ++node) {
      const int parent = parent_of(node);
      if (parent < 0) continue;
      Seconds up;
      Seconds down;
      for (std::size_t rail = 0; rail < rails; ++rail) {
        const std::int32_t child_member = domains[static_cast<std::size_t>(node)][rail];
        const std::int32_t parent_member = domains[static_cast<std::size_t>(parent)][rail];
        up = max(up, group.builder.add(child_member, parent_member, weight));
        down = max(down, group.builder.add(parent_member, child_member, weight));
      }
      there_and_back[static_cast<std::size_t>(node)] = up + down;
    }
    // Few of the hops of a large group are long ones: what counts is how many of them are on the
    // way of one leaf.
    for (int leaf = 0; leaf < count; ++leaf) {
      Seconds way;
      for (int at = leaf; parent_of(at) >= 0; at = parent_of(at)) {
        way += there_and_back[static_cast<std::size_t>(at)];
      }
      longest = max(longest, way);
    }
  }
  return longest;
}

}  // namespace headway
