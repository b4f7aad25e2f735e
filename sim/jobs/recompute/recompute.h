#pragma once

#include "sim/base/units.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/layer.h"

namespace headway {

/// None where nothing, or whole layers, are recomputed.
[[nodiscard]] RecomputeParts recompute_parts(const Strategy& strategy);

/// How many layers of a chunk of `layers` recompute what the strategy recomputes: all, or the first
/// `recompute_layers`.
[[nodiscard]] int recomputed_layers(const Strategy& strategy, int layers);

/// What a layer keeps, on one rank and for one micro-batch, that recomputes what the strategy says.
[[nodiscard]] Bytes recomputing_layer_bytes(const Layer& layer, const Strategy& strategy);

/// The part that the strategy's recomputation makes again in the backward pass: what the layer that
/// is being recomputed holds for that while.
[[nodiscard]] Bytes recomputed_bytes(const Layer& layer, const Strategy& strategy);

}  // namespace headway
