#include "sim/programs/stage_costs/attention_shapes.h"

#include <algorithm>
#include <cmath>

#include "sim/jobs/stage_parameters.h"
#include "sim/programs/stage_costs/rank_work.h"

namespace headway {

std::vector<AttentionShape> attention_shapes(const TransformerModel& model,
                                             const Strategy& strategy) {
  std::vector<AttentionShape> all;
  if (!strategy.fused_attention) return all;
  const auto counts = kinds_of_layers(model, {0, static_cast<int>(model.layers)});
  for (const LayerKind kind : layer_kinds()) {
    if (counts[kind.index()] == 0) continue;
    for (AttentionShape shape : layer_work(model, strategy, kind).attention) {
      if (!shape.is_plain()) continue;
      shape.value_head_size = shape.window = 0.0;
      for (double* size :
           {&shape.sequences, &shape.query_length, &shape.key_length, &shape.key_heads}) {
        *size = std::ceil(*size);
      }
      shape.query_heads = std::ceil(shape.query_heads / shape.key_heads) * shape.key_heads;
      if (std::find(all.begin(), all.end(), shape) == all.end()) all.push_back(shape);
    }
  }
  return all;
}

}  // namespace headway
