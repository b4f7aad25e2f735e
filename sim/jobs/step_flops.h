#pragma once

#include "sim/base/units.h"

namespace headway {

struct Model;
struct Strategy;

/// Operations of one training step of the whole job: three times the forward pass of every token,
/// and what recomputation runs again. Where only adapters are trained, the weight gradients of
/// everything else are left out, and the adapters' own operations are not counted. Attention
/// reaches as far as packed documents do.
struct StepFlops {
  Flops model;               ///< causal attention
  Flops model_whole_square;  ///< attention over the whole square
  Flops hardware;            ///< causal attention, recomputed operations included
};
[[nodiscard]] StepFlops step_flops(const Model& model, const Strategy& strategy);

}  // namespace headway
