#include "calibrate/output/attention_fit.h"

#include <algorithm>
#include <numeric>

namespace headway {

std::optional<Ratio> batched_rate(const std::vector<MeasuredPoint>& points,
                                  const DeviceCosts& costs) {
  std::vector<double> rates;
  double spread = 0.0;
  for (const MeasuredPoint& point : points) {
    const auto* batched = std::get_if<BatchedGemmPoint>(&point.point);
    if (batched == nullptr) continue;
    const Precision precision = batched->gemm.precision;
    const double work = batched->batch * batched->gemm.shape.flops();
    rates.push_back(work / point.measured.time.count() / costs.peak_flops.at(precision).value /
                    costs.gemm_efficiency.at(precision).value);
    spread = std::max(spread, point.measured.spread());
  }
  if (rates.empty()) return std::nullopt;
  const double mean =
      std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  return Ratio{mean, std::max(spread, (*most - *least) / 2.0 / mean)};
}

}  // namespace headway
