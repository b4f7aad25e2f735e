#pragma once

#include "sim/base/units.h"

namespace headway {

/// How well a cost is founded: `exact`, the very shape was measured; `interpolated`, inside what
/// was measured or fitted; `extrapolated`, outside of it.
enum class CostStatus { exact, interpolated, extrapolated };

/// What an operation costs on one device, and how far that may be off (one standard deviation,
/// relative).
struct Cost {
  Seconds time;
  CostStatus status = CostStatus::interpolated;
  double spread = 0.0;
};

}  // namespace headway
