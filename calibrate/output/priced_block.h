#pragma once

#include <map>

#include "calibrate/block/block_run.h"
#include "sim/costs/profile.h"

namespace headway {

/// What the operations of a block cost by a profile, each as the simulator would price it alone.
struct BlockCost {
  Seconds products;   ///< of whole matrices, by the table and its formula
  Seconds attention;  ///< batched products, at `batched_gemm_efficiency` of the products' rate
  Seconds passes;     ///< by the streaming curve, softmax included
  Seconds update;
  [[nodiscard]] Seconds total() const { return products + attention + passes + update; }
};

/// Of one step. Requires a profile of devices that multiply in `precision`.
[[nodiscard]] BlockCost block_cost(const Profile& profile, const BlockShape& shape,
                                   Precision precision);

/// "... 12.3 ms measured, 11.8 ms by this profile (-4.1 %): ...", for a profile's provenance.
[[nodiscard]] std::string block_text(const BlockRun& run, const BlockCost& cost);

}  // namespace headway
