#pragma once

#include <optional>
#include <vector>

#include "calibrate/measure/segment_fit.h"
#include "calibrate/suite/sweep.h"
#include "sim/costs/profile.h"

namespace headway {

/// The measured passes of fused attention.
[[nodiscard]] std::vector<MeasuredAttention> attention_table(
    const std::vector<MeasuredPoint>& points);

/// The parameters of fused_attention_cost (sim/costs/kernel_cost.h) that meet a table best.
struct AttentionFit {
  double rate = 0.0;  ///< peak times efficiency, FLOP/s
  /// Nothing: one length cannot tell it, and the fit took the one that was given.
  std::optional<double> sequence_half;
  std::optional<double> head_exponent;  ///< nothing: no heads below 128 beside others
  std::optional<double> backward;       ///< nothing: no backward pass was measured
  FitError residual;                    ///< of the formula on the rows it was fitted to
};
/// `sequence_half` and `head_exponent` are taken where the rows cannot tell them. Nothing without a
/// forward pass.
[[nodiscard]] std::optional<AttentionFit> fitted_attention(
    const std::vector<MeasuredAttention>& table, double sequence_half, double head_exponent);

/// What the cost of attention is worth between measured shapes: every fifth row of the table (a
/// grid has passes, heads of keys and head sizes in twos) is taken out of `device` and predicted
/// from the rest, unless it then lies outside of them. Nothing for fewer than 12 rows.
[[nodiscard]] std::optional<FitError> held_out_attention_error(const DeviceCosts& device);

}  // namespace headway
