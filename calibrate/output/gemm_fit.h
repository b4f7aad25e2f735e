#pragma once

#include <map>
#include <optional>
#include <vector>

#include "calibrate/measure/segment_fit.h"
#include "calibrate/suite/sweep.h"
#include "sim/costs/profile.h"

namespace headway {

/// The measured products, one row a shape and precision: the mean over the layouts, since training
/// runs each of them once. The spread covers the samples, the passes and the layouts. Not those of
/// fp8 with block scales, nor those that add up, which training_fit.h is for.
[[nodiscard]] std::vector<MeasuredGemm> gemm_table(const std::vector<MeasuredPoint>& points);

/// The parameters of gemm_cost (sim/costs/kernel_cost.h) that meet a table best.
struct GemmFit {
  std::map<Precision, double> rate;  ///< peak times efficiency, FLOP/s
  double inner_half = 0.0;
  double quantisation = 0.0;
  double overhead = 0.0;  ///< seconds
  FitError residual;      ///< of the formula on the shapes it was fitted to
};
/// Rows that the memory bounds (at `memory_bytes_per_s`) say nothing about the arithmetic and are
/// left out, unless nothing would remain. The inner half, quantisation and overhead are those of
/// the precision with the most rows; the others get a rate. Requires rows.
[[nodiscard]] GemmFit fitted_gemm(const std::vector<MeasuredGemm>& table, int multiprocessors,
                                  double memory_bytes_per_s);

/// What gemm_cost is worth between measured shapes: every fourth row of the table is taken out of
/// `device` and predicted from the rest, unless it then lies outside of them (those costs are
/// called extrapolated wherever they are used). Nothing for fewer than 12 rows.
[[nodiscard]] std::optional<FitError> held_out_gemm_error(const DeviceCosts& device);

}  // namespace headway
