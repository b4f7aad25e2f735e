#include "sim/programs/stage_costs/attention_shapes.h"

#include <algorithm>
#include <cmath>

#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/work.h"

namespace headway {

std::vector<AttentionShape> attention_shapes(const Model& model, const Strategy& strategy) {
  std::vector<AttentionShape> all;
  if (!strategy.fused_attention) return all;
  const RankShape rank = rank_shape_of(strategy);
  for (const Layer& layer : model.kinds) {
    const std::optional<AttentionWork> attention = work(layer, rank).attention;
    if (!attention || !attention->shape.is_plain()) continue;
    AttentionShape shape = attention->shape;
    shape.value_head_size = shape.window = 0.0;
    for (double* size :
         {&shape.sequences, &shape.query_length, &shape.key_length, &shape.key_heads}) {
      *size = std::ceil(*size);
    }
    shape.query_heads = std::ceil(shape.query_heads / shape.key_heads) * shape.key_heads;
    if (std::find(all.begin(), all.end(), shape) == all.end()) all.push_back(shape);
  }
  return all;
}

}  // namespace headway
