#pragma once

#include <vector>

#include "sim/layers/kernel_shape.h"
#include "sim/layers/model.h"

namespace headway {

struct Strategy;

/// The shapes of fused attention that a rank of a job runs and a profile's table can hold, once
/// each: as many keys as queries, values as wide as keys, no window, no sinks. Sizes that degrees
/// of parallelism do not divide are rounded up, heads of queries to a multiple of those of keys.
/// Empty where attention is not fused.
[[nodiscard]] std::vector<AttentionShape> attention_shapes(const Model& model,
                                                           const Strategy& strategy);

}  // namespace headway
