#include "sim/predict/predicted_memory.h"

#include <algorithm>

#include "sim/jobs/memory.h"

namespace headway {

MemoryPrediction predicted_memory(const Model& model, const Strategy& strategy,
                                  const Profile& profile) {
  MemoryPrediction memory;
  memory.stages = stage_memory(model, strategy);
  memory.capacity = Bytes(profile.device.memory_bytes.value);
  const auto fullest = std::ranges::max_element(
      memory.stages, {}, [](const StageMemory& stage) { return stage.total().count(); });
  memory.fullest_stage = static_cast<int>(fullest - memory.stages.begin());
  memory.fits = fullest->total() <= memory.capacity;
  return memory;
}

}  // namespace headway
