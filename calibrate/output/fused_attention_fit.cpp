#include "calibrate/output/fused_attention_fit.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "calibrate/measure/linear_fit.h"
#include "calibrate/output/estimates.h"
#include "calibrate/output/held_out.h"
#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

constexpr double kFullHeadSize = 128.0;

/// The formula's time at a rate of 1 FLOP/s, less what the backward pass is slower by.
double unit_time(const MeasuredAttention& row, double sequence_half, double head_exponent) {
  const double head = std::min(1.0, row.shape.head_size / kFullHeadSize);
  return row.shape.forward_flops() * fused_operations(row.pass) *
         (1.0 + sequence_half / row.shape.key_length) / std::pow(head, head_exponent);
}

bool has_several(const std::vector<MeasuredAttention>& rows, double AttentionShape::*size,
                 double most) {
  return std::any_of(rows.begin(), rows.end(), [&](const MeasuredAttention& row) {
    return std::min(most, row.shape.*size) != std::min(most, rows.front().shape.*size);
  });
}

/// Time for each operation that no shape makes slower, and how much a length's start adds to it.
struct Line {
  double per_operation = 0.0;
  double per_start = 0.0;
  double squares = 0.0;  ///< sum of squared relative errors
};

Line line_with(const std::vector<MeasuredAttention>& rows, double head_exponent,
               const double* sequence_half) {
  std::vector<Observation> observations;
  for (const MeasuredAttention& row : rows) {
    const double bare = unit_time(row, 0.0, head_exponent);
    std::vector<double> features = {bare, bare / row.shape.key_length};
    if (sequence_half != nullptr) features = {unit_time(row, *sequence_half, head_exponent)};
    observations.push_back({features, row.time.count()});
  }
  const auto c = non_negative_fit(observations);
  Line line{c[0], sequence_half != nullptr ? c[0] * *sequence_half : c[1], 0.0};
  for (const Observation& observation : observations) {
    line.squares += std::pow(fitted_value(c, observation.features) / observation.value - 1.0, 2);
  }
  return line;
}

}  // namespace

std::vector<MeasuredAttention> attention_table(const std::vector<MeasuredPoint>& points) {
  std::vector<MeasuredAttention> table;
  for (const MeasuredPoint& point : points) {
    const auto* attention = std::get_if<AttentionPoint>(&point.point);
    if (attention == nullptr) continue;
    table.push_back({attention->shape, attention->pass,
                     Seconds(rounded(point.measured.time.count())),
                     rounded(std::min(1.0, point.measured.spread()), 3)});
  }
  return table;
}

std::optional<AttentionFit> fitted_attention(const std::vector<MeasuredAttention>& table,
                                             double sequence_half, double head_exponent) {
  std::vector<MeasuredAttention> forward;
  std::copy_if(table.begin(), table.end(), std::back_inserter(forward),
               [](const MeasuredAttention& row) { return row.pass == Pass::forward; });
  if (forward.empty()) return std::nullopt;
  const bool knows_lengths = has_several(forward, &AttentionShape::key_length, INFINITY);
  const bool knows_heads = has_several(forward, &AttentionShape::head_size, kFullHeadSize);
  const double* const given = knows_lengths ? nullptr : &sequence_half;

  AttentionFit fit;
  Line best = line_with(forward, head_exponent, given);
  if (knows_heads) {
    fit.head_exponent = head_exponent;
    constexpr int kSteps = 200;  // of a hundredth: heads of half the size change by 0.7 % a step
    for (int step = 0; step <= kSteps; ++step) {
      const Line line = line_with(forward, step / 100.0, given);
      if (line.squares >= best.squares) continue;
      best = line;
      fit.head_exponent = step / 100.0;
    }
  }
  if (best.per_operation == 0.0) return std::nullopt;  // nothing grows with the work
  fit.rate = 1.0 / best.per_operation;
  if (knows_lengths) fit.sequence_half = best.per_start / best.per_operation;

  const auto formula = [&](const MeasuredAttention& row) {
    return unit_time(row, best.per_start / best.per_operation,
                     fit.head_exponent.value_or(head_exponent)) /
           fit.rate;
  };
  double log_backward = 0.0;
  int backward_rows = 0;
  for (const MeasuredAttention& row : table) {
    if (row.pass == Pass::forward) continue;
    log_backward += std::log(formula(row) / row.time.count());
    ++backward_rows;
  }
  if (backward_rows > 0) fit.backward = std::exp(log_backward / backward_rows);
  std::vector<double> errors;
  for (const MeasuredAttention& row : table) {
    const double time = formula(row) / (row.pass == Pass::backward ? *fit.backward : 1.0);
    errors.push_back(std::abs(time / row.time.count() - 1.0));
  }
  fit.residual = relative_errors(errors);
  return fit;
}

std::optional<FitError> held_out_attention_error(const DeviceCosts& device) {
  constexpr std::size_t kStride = 5;  // a grid has passes, heads of keys and head sizes in twos
  KernelFamily reference;
  reference.attention_rate.value = 1.0;
  return held_out_error(device, &DeviceCosts::attention_table, kStride,
                        [&](const DeviceCosts& rest, const MeasuredAttention& row) {
                          return fused_attention_cost(rest, reference, row.shape, row.pass);
                        });
}

}  // namespace headway
