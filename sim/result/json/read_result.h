#pragma once

#include "sim/files/json_document.h"
#include "sim/result/prediction.h"

namespace headway {

/// Reads a result document back ("headway/result/1"): what result_json wrote of a prediction gives
/// the same document again. What is missing, of the wrong type or of another schema is a
/// diagnostic; members that this release does not know are passed over.
[[nodiscard]] Prediction read_result(const JsonCursor& root, Diagnostics& diagnostics);

}  // namespace headway
