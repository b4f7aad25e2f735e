#pragma once

#include <optional>
#include <vector>

#include "sim/costs/profile.h"
#include "sim/files/json_reader.h"

namespace headway {

/// The optional member "attention_table" of a device: {"source", "points": [{"pass", "sequences",
/// "length", "query_heads", "key_heads", "head_size", "causal", "time_s", "spread"}]}. Reports
/// shapes given twice, heads that do not divide and passes faster than `peak`; nothing is held
/// against a peak that was not understood.
[[nodiscard]] std::vector<MeasuredAttention> read_attention_table(
    ObjectReader& device, const std::optional<Estimate>& peak);

}  // namespace headway
