#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

/// A tensor on one rank, for one micro-batch. Its name lives as long as the layer.
struct KeptBytes {
  std::string_view name;
  Bytes bytes;
  Again again = {};
};

/// Everything that one layer keeps on one rank if nothing is recomputed; what is empty is left out.
[[nodiscard]] std::vector<KeptBytes> kept_tensors(const Layer& layer, const RankShape& shape);

/// The sum of it, less what these parts make again.
[[nodiscard]] Bytes kept_bytes(const Layer& layer, const RankShape& shape,
                               const RecomputeParts& again = {});

/// What the backward pass through a layer has of gradients at once, at most: of the residual
/// stream, and of what goes into and comes out of its largest product, or of the scores of unfused
/// attention. Those of weights are counted elsewhere.
[[nodiscard]] Bytes gradients_at_work(const Layer& layer, const RankShape& shape);

/// What comes in for a micro-batch, on one rank: what whole-layer recomputation starts from.
[[nodiscard]] Bytes input_bytes(const Layer& layer, const RankShape& shape);

}  // namespace headway
