#include "calibrate/output/attention_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace headway {

namespace {

/// By head size: the mean of relative rates.
struct RatesOfHeads {
  double inverse_sum = 0.0;
  double count = 0.0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  double spread = 0.0;
  [[nodiscard]] double mean() const { return count / inverse_sum; }
};

}  // namespace

std::optional<BatchedFit> fitted_batched(const std::vector<MeasuredPoint>& points,
                                         const DeviceCosts& costs) {
  std::map<double, RatesOfHeads> by_size;
  for (const MeasuredPoint& point : points) {
    const auto* batched = std::get_if<BatchedGemmPoint>(&point.point);
    if (batched == nullptr) continue;
    const Precision precision = batched->gemm.precision;
    const GemmShape& shape = batched->gemm.shape;
    const double rate = batched->batch * shape.flops() / point.measured.time.count() /
                        costs.peak_flops.at(precision).value /
                        costs.gemm_efficiency.at(precision).value;
    // Scores are as long as they are wide; the size of a head is the third side.
    RatesOfHeads& rates = by_size[std::min(shape.n, shape.k)];
    rates.inverse_sum += 1.0 / rate;
    rates.count += 1.0;
    rates.least = std::min(rates.least, rate);
    rates.most = std::max(rates.most, rate);
    rates.spread = std::max(rates.spread, point.measured.spread());
  }
  if (by_size.empty()) return std::nullopt;
  const auto& [small, slow] = *by_size.begin();
  const auto& [large, fast] = *by_size.rbegin();
  const double half_range = (fast.most - fast.least) / 2.0 / fast.mean();
  BatchedFit fit{.largest = {fast.mean(), std::max(fast.spread, half_range)}};
  if (small < large) {
    fit.head_exponent = std::log(slow.mean() / fast.mean()) / std::log(small / large);
  }
  return fit;
}

}  // namespace headway
