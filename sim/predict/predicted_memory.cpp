#include "sim/predict/predicted_memory.h"

#include <algorithm>

#include "sim/jobs/memory.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

/// The memory of the stage's accelerator that can hold least.
Bytes least_capacity(const Scenario& scenario, const Strategy& strategy, int stage) {
  const KindProfiles profiles = scenario.profiles();
  const auto of_kind = [&](int kind) { return Bytes(profiles.of(kind).device.memory_bytes.value); };
  const Cluster& cluster = *scenario.cluster;
  if (cluster.kinds() == 1) return of_kind(0);
  const Placement placement = placement_of(strategy, scenario.placement.order);
  std::optional<Bytes> least;
  for (int d = 0; d < strategy.data_parallel; ++d) {
    for (int c = 0; c < strategy.context_parallel; ++c) {
      for (int t = 0; t < strategy.tensor_parallel; ++t) {
        const Bytes held = of_kind(cluster.kind_of(placement.accelerator(t, c, d, stage)));
        least = least ? min(*least, held) : held;
      }
    }
  }
  return *least;
}

}  // namespace

MemoryPrediction predicted_memory(const Scenario& scenario, const Strategy& strategy) {
  MemoryPrediction memory;
  memory.stages = stage_memory(scenario.model, strategy);
  for (std::size_t stage = 0; stage < memory.stages.size(); ++stage) {
    memory.stages[stage].capacity = least_capacity(scenario, strategy, static_cast<int>(stage));
  }
  const auto fullest = std::ranges::max_element(
      memory.stages, {}, [](const StageMemory& stage) { return stage.total() / stage.capacity; });
  memory.fullest_stage = static_cast<int>(fullest - memory.stages.begin());
  memory.capacity = fullest->capacity;
  memory.fits = fullest->total() <= fullest->capacity;
  return memory;
}

}  // namespace headway
