#include <algorithm>
#include <bit>
#include <vector>

#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {

/// Parallel aggregated trees (Jeaugey 2025, arXiv:2506.20252): what a domain has comes to the one m
/// places on by the set bits of m, the highest first, so that all are reached in as many steps as
/// there are bits, and most bytes go to the next neighbour. Each rail carries its part, and the
/// members of a domain hand on to each other what their rails brought. A reduce-scatter is the same
/// backwards.
Seconds lay_pat(const GroupToLay& group) {
  const Domains& domains = group.domains;
  const std::size_t count = domains.size();
  const std::size_t rails = domains.smallest();
  const std::size_t largest = domains.largest();
  std::vector<Seconds> arrived(count);  // when a domain has what was sent to it so far
  for (std::size_t distance = std::bit_floor(count - 1); distance > 0; distance /= 2) {
    // How many of the numbers 1 to count - 1 have `distance` as their lowest bit: blocks that come
    // from so many places back.
    const std::size_t blocks = (count - 1 + distance) / (2 * distance);
    const double weight = static_cast<double>(blocks) / static_cast<double>(count * rails);
    const std::vector<Seconds> ready = arrived;
    for (std::size_t from = 0; from < count; ++from) {
      const std::size_t to = (from + distance) % count;
      Seconds slowest;
      for (std::size_t rail = 0; rail < rails; ++rail) {
        slowest = max(slowest, group.builder.add(domains[from][rail], domains[to][rail], weight));
      }
      arrived[to] = max(ready[to], ready[from] + slowest);
    }
  }
  const Seconds latency = std::ranges::max(arrived);
  if (largest == 1) return latency;
  const auto others = static_cast<double>(largest - 1);
  group.builder.use_scale_up(others / static_cast<double>(largest));
  return latency + others * group.costs.scale_up_latency;
}

}  // namespace headway
