#pragma once

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// What rank groups did over one iteration: a row each, with a legend, a time axis and a slider
/// that stretches it. Segments of the critical path on these rows are underlined. Requires
/// activity.
[[nodiscard]] Drawing gantt_drawing(const Prediction& prediction);

}  // namespace headway
