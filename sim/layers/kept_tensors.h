#pragma once

#include "sim/base/units.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

/// Bytes of a tensor that the layer keeps, on one rank and for one micro-batch, if nothing is
/// recomputed: none where the rank's kernels do without it.
[[nodiscard]] Bytes kept_bytes(const KeptTensor& tensor, const Layer& layer,
                               const RankShape& shape);

/// The sum over all that the layer keeps, less what these parts make again.
[[nodiscard]] Bytes kept_bytes(const Layer& layer, const RankShape& shape,
                               const RecomputeParts& again = {});

/// What the backward pass through a layer has of gradients at once, at most: of the residual
/// stream, and of what goes into and comes out of its largest product, or of the scores of unfused
/// attention. Those of weights are counted elsewhere.
[[nodiscard]] Bytes gradients_at_work(const Layer& layer, const RankShape& shape);

/// What comes in for a micro-batch, on one rank: what whole-layer recomputation starts from.
[[nodiscard]] Bytes input_bytes(const Layer& layer, const RankShape& shape);

}  // namespace headway
