#include "sim/predict/scaling.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/base/join_words.h"
#include "sim/base/refuse.h"
#include "sim/jobs/smaller_job.h"
#include "sim/predict/predicted_memory.h"

namespace headway {

std::optional<Strategy> reference_strategy(const Scenario& scenario,
                                           std::optional<int> accelerators) {
  const Strategy& strategy = *scenario.strategy;
  if (scenario.cluster->kinds() > 1 && !accelerators) return std::nullopt;
  std::vector<int> sizes;
  // Against itself only where somebody asks for it: that says nothing.
  const int most = strategy.data_parallel - (accelerators ? 0 : 1);
  for (int replicas = 1; replicas <= most; ++replicas) {
    if (strategy.data_parallel % replicas != 0) continue;
    const std::optional<Strategy> smaller = with_replicas(strategy, replicas);
    if (!smaller) continue;
    sizes.push_back(smaller->ranks());
    if (accelerators) {
      if (sizes.back() == *accelerators) return smaller;
    } else if (predicted_memory(scenario, *smaller).fits) {
      return smaller;
    }
  }
  if (!accelerators) return std::nullopt;
  refuse(fmt::format("--reference {} is not a size this job can be scaled down to", *accelerators),
         fmt::format("use {}", join_words(sizes, " or ")));
}

ScalingReference scaling_against(const Strategy& reference, Seconds reference_step, Seconds step) {
  // Work for each accelerator is the same, so the ratio of speeds is that of times.
  return {.accelerators = reference.ranks(),
          .iteration_time = reference_step,
          .efficiency = reference_step / step,
          .description = fmt::format("data_parallel {}", reference.data_parallel)};
}

}  // namespace headway
