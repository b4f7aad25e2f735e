#include "sim/programs/perturbation/slow_replicas.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace headway {
namespace {

bool is_no_slower(const StageFactors& a, const StageFactors& b) {
  return std::ranges::equal(a, b, std::ranges::less_equal());
}

}  // namespace

std::vector<StageFactors> slow_replicas(const Perturbation& perturbation,
                                        const Placement& placement) {
  std::map<int, StageFactors> by_replica;
  for (const auto& [accelerator, factor] : perturbation.slow_accelerators) {
    const std::optional<ReplicaStage> owner = placement.owner(accelerator);
    if (!owner || factor <= 1.0) continue;
    const auto stages = static_cast<std::size_t>(placement.pipeline);
    StageFactors& factors =
        by_replica.try_emplace(owner->replica, StageFactors(stages, 1.0)).first->second;
    double& slowest = factors[static_cast<std::size_t>(owner->stage)];
    slowest = std::max(slowest, factor);
  }
  std::vector<StageFactors> slowest;
  for (const auto& [replica, factors] : by_replica) {
    const auto covers = [&](const StageFactors& other) { return is_no_slower(factors, other); };
    if (std::ranges::any_of(slowest, covers)) continue;
    std::erase_if(slowest, [&](const StageFactors& other) { return is_no_slower(other, factors); });
    slowest.push_back(factors);
  }
  return slowest;
}

}  // namespace headway
