#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.h"
#include "sim/costs/collective_cost.h"
#include "sim/costs/cost.h"
#include "sim/costs/measured_curve.h"

namespace headway {

/// A collective as it was measured on idle links, over the message size of nccl-tests.
struct MeasuredCollective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 2;
  MeasuredCurve curve;
};

/// The measured time of a collective; nothing if this kind was not measured with this many ranks
/// or the message is outside of the measured range. The closed form answers then.
[[nodiscard]] std::optional<Cost> measured_collective_cost(
    const std::vector<MeasuredCollective>& measured, CollectiveKind kind, Bytes message, int ranks);

}  // namespace headway
