#pragma once

#include "sim/files/json_reader.h"
#include "sim/result/reliability.h"

namespace headway {

/// Reads what `percentiles_json` wrote.
[[nodiscard]] Percentiles read_percentiles(ObjectReader& reader, const char* key);

/// Reads what `add_reliability_json` wrote; `reader` is at "long_run".
[[nodiscard]] ReliabilityPrediction read_long_run(ObjectReader& reader);

}  // namespace headway
