#include "sim/layers/expert_masks.h"

#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

ExpertMaskShape expert_mask_shape(const ExpertRouting& routing, const RankShape& shape) {
  if (shape.expert_masks == ExpertMasks::none) return {};
  HEADWAY_CHECK(shape.expert_capacity > 0.0, "masks of experts that have no places");
  const double choices = routing.experts_per_token;
  ExpertMaskShape masks{.width = routing.width};
  if (shape.expert_masks == ExpertMasks::of_sequences) {
    masks.tokens = shape.sequence_length / shape.context_parallel;
    masks.forward_bytes = 2 + 1 + (1 + 2);
    masks.backward_bytes = 2;
  } else {
    masks.tokens = shape.residual_tokens();
    masks.forward_bytes = 4 * choices + (8 + 4) * (choices - 1) + (4 + 1) + (1 + 2) + (4 + 2);
    masks.backward_bytes = (2 + 4) + 4 * choices;
  }
  masks.groups = shape.residual_tokens() / masks.tokens;
  masks.places =
      std::ceil(masks.tokens * choices / routing.experts) * shape.expert_capacity * routing.experts;
  return masks;
}

}  // namespace headway
