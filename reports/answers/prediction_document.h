#pragma once

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// A report on one prediction: the answer in three sentences and four numbers, where the time goes,
/// memory by cause, one iteration with its critical path, the busiest links, how far to trust it,
/// and all that is needed to run it again. A job that was not simulated has its memory only.
[[nodiscard]] Document prediction_document(const Prediction& prediction);

}  // namespace headway
