#include "sim/predict/predicted_memory.h"

#include <algorithm>
#include <utility>

#include "sim/base/diagnostic.h"
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

/// What the job's ranks offload, node by node, against what the node has.
std::optional<HostMemory> host_memory(const Scenario& scenario, const Strategy& strategy,
                                      const std::vector<StageMemory>& stages) {
  const auto offloads = [](const StageMemory& stage) { return stage.host > Bytes(0.0); };
  if (std::ranges::none_of(stages, offloads)) return std::nullopt;
  const Cluster& cluster = *scenario.cluster;
  std::vector<HostMemory> nodes(static_cast<std::size_t>(cluster.nodes));
  const Placement placement = placement_of(strategy, scenario.placement.order);
  for (int rank = 0; rank < strategy.ranks(); ++rank) {
    const int accelerator = placement.first_accelerator + rank;
    const auto owner = placement.owner(accelerator);
    HEADWAY_CHECK(owner.has_value(), "a rank without a stage");
    HostMemory& node = nodes[static_cast<std::size_t>(cluster.node_of(accelerator))];
    node.needed += stages[static_cast<std::size_t>(owner->stage)].host;
    node.capacity = cluster.type_of(accelerator).host_memory;
  }
  return *std::ranges::max_element(nodes, {}, [](const HostMemory& node) {
    // Nodes of which nobody says it come last, the fullest of them first.
    return std::pair(node.is_known() ? node.needed / node.capacity : -1.0, node.needed);
  });
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
  memory.host = host_memory(scenario, strategy, memory.stages);
  memory.fits = fullest->total() <= fullest->capacity && !memory.is_short_of_host();
  return memory;
}

}  // namespace headway
