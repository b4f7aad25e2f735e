#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "sim/costs/profile.h"
#include "sim/files/json_reader.h"

namespace headway {

/// Reports that "points" is missing or empty.
void report_if_no_points(ObjectReader& reader);

/// The optional member "gemm_table" of a device: {"source", "points": [{"precision", "m", "n", "k",
/// "time_s", "spread"}]}. Reports shapes given twice and points that the peak does not allow;
/// without peaks (they were not understood) nothing is held against them.
[[nodiscard]] std::vector<MeasuredGemm> read_gemm_table(
    ObjectReader& device, const std::map<Precision, Estimate>& peak_flops);

/// The optional member `key`: {"source", "spread", "points": [{`size_key`, "time_s"}]}, sizes
/// rising.
[[nodiscard]] MeasuredCurve read_curve(ObjectReader& reader, std::string_view key,
                                       std::string_view size_key);

/// The optional member "collectives" of a scope: [{"kind", "ranks", "source", "spread", "points":
/// [{"message_bytes", "time_s"}]}].
[[nodiscard]] std::vector<MeasuredCollective> read_collectives(ObjectReader& scope);

/// The optional member "attention_table" of a device: {"source", "points": [{"pass", "sequences",
/// "length", "query_heads", "key_heads", "head_size", "causal", "time_s", "spread"}]}. Reports
/// shapes given twice, heads that do not divide and passes faster than `peak`; nothing is held
/// against a peak that was not understood.
[[nodiscard]] std::vector<MeasuredAttention> read_attention_table(
    ObjectReader& device, const std::optional<Estimate>& peak);

/// Makes products and attention that were measured one by one as slow as they are where the device
/// never rests: their rates times `rate`, in (0, 1]. Under the power of minutes of work its clock is
/// lower than between the waits of a calibration. What the memory bounds, and what others published
/// (`rate_in_training` says it of that), stays as it is.
void sustain(DeviceCosts& device, double rate);

}  // namespace headway
