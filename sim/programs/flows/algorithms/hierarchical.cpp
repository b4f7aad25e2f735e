#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// Reduced and scattered around a ring of the domain, reduced around a ring on each rail, gathered
/// around the ring of the domain; pipelined, so that it goes at the pace of the slowest of them.
Seconds lay_hierarchical(const GroupToLay& group) {
  const Domains& domains = group.domains;
  const std::size_t rails = domains.smallest();
  const auto count = static_cast<double>(domains.size());
  const double weight = 2.0 * (count - 1.0) / count / static_cast<double>(rails);
  Seconds around;  // the latency once around, which is shared out over the hops of a part's way
  for (std::size_t d = 0; d < domains.size() && domains.size() > 1; ++d) {
    Seconds slowest;
    for (std::size_t rail = 0; rail < rails; ++rail) {
      const std::int32_t next = domains[(d + 1) % domains.size()][rail];
      slowest = max(slowest, group.builder.add(domains[d][rail], next, weight));
    }
    around += slowest;
  }
  return 2.0 * (count - 1.0) / count * around + lay_rings_inside(group);
}

}  // namespace headway
