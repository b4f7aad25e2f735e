#pragma once

#include <string>

#include "calibrate/block/block_run.h"
#include "sim/costs/profile.h"
#include "sim/layers/layer.h"

namespace headway {

/// What TransformerBlock trains, as a layer like those of any model. Passes move what its kernels
/// do, softmax as one of them: there is neither a mask nor dropout.
[[nodiscard]] Layer block_layer(const BlockShape& shape, Precision precision);

/// What a step of it costs by a profile, as the simulator prices a layer.
struct BlockCost {
  Seconds products;   ///< of whole matrices
  Seconds attention;  ///< batched products, without their softmax
  Seconds passes;
  Seconds update;
  Seconds gaps;  ///< between kernels
  [[nodiscard]] Seconds total() const { return products + attention + passes + update + gaps; }
};

/// Requires a profile of devices that multiply in `precision`.
[[nodiscard]] BlockCost block_cost(const Profile& profile, const BlockShape& shape,
                                   Precision precision);

/// "... 12.3 ms measured, 11.8 ms by this profile (-4.1 %): ...", for a profile's provenance.
[[nodiscard]] std::string block_text(const BlockRun& run, const BlockCost& cost);

}  // namespace headway
