#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// Neighbours in the order given. Where each domain holds k members, k rings run at once and carry
/// 1/k each, so that every member's NIC is used: NCCL's one ring a rail.
Seconds lay_ring(const GroupToLay& group) {
  const Domains& domains = group.domains;
  const std::size_t rings = domains.smallest();
  Seconds around;  // the latency once around one of them
  for (std::size_t d = 0; d < domains.size() && domains.size() > 1; ++d) {
    const std::span<const std::int32_t> here = domains[d];
    const std::span<const std::int32_t> next = domains[(d + 1) % domains.size()];
    Seconds slowest;
    for (std::size_t ring = 0; ring < rings; ++ring) {
      const double weight = 1.0 / static_cast<double>(rings);
      slowest = max(slowest, group.builder.add(here[ring], next[ring], weight));
    }
    around += slowest;
  }
  const int crossings = domains.size() > 1 ? static_cast<int>(domains.size()) : 0;
  if (group.ranks() > crossings) {
    around += static_cast<double>(group.ranks() - crossings) * group.costs.scale_up_latency;
    group.builder.use_scale_up(1.0);
  }
  const int steps = collective_volume(group.kind, CollectiveAlgorithm::ring, group.ranks()).steps;
  return steps / static_cast<double>(group.ranks()) * around;
}

}  // namespace headway
