#include "calibrate/output/memory_fit.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

double traffic(const MemoryPoint& point, double activation_bytes) {
  return static_cast<double>(point.elements) *
         traffic_bytes_per_element(point.kernel, activation_bytes);
}

MeasuredCurve kernel_curve(const std::vector<MeasuredPoint>& points, MemoryKernel kernel,
                           double bytes_per_element, const char* source) {
  MeasuredCurve curve;
  double spread = 0.0;
  for (const MeasuredPoint& point : points) {
    const auto* memory = std::get_if<MemoryPoint>(&point.point);
    if (memory == nullptr || memory->kernel != kernel) continue;
    const Bytes size(static_cast<double>(memory->elements) * bytes_per_element);
    curve.points.push_back({size, point.measured.time});
    spread += point.measured.spread();
  }
  std::sort(curve.points.begin(), curve.points.end(),
            [](const auto& a, const auto& b) { return a.size < b.size; });
  if (!curve.points.empty()) {
    curve.spread = std::min(1.0, spread / static_cast<double>(curve.points.size()));
  }
  curve.source = source;
  return curve;
}

}  // namespace

MeasuredCurve streaming_curve(const std::vector<MeasuredPoint>& points, double activation_bytes) {
  return kernel_curve(points, MemoryKernel::residual_add,
                      traffic_bytes_per_element(MemoryKernel::residual_add, activation_bytes),
                      "measured: residual addition, operands not in cache");
}

MeasuredCurve optimizer_curve(const std::vector<MeasuredPoint>& points) {
  return kernel_curve(points, MemoryKernel::adam, sizeof(float), "measured: Adam in fp32");
}

StreamingRate streaming_rate(const MeasuredCurve& curve) {
  HEADWAY_CHECK(!curve.points.empty(), "the rate of no pass");
  std::vector<SizedTime> points;
  StreamingRate rate;
  for (const MeasuredCurve::Point& point : curve.points) {
    points.push_back({point.size, point.time});
    rate.most_bytes_per_s = std::max(rate.most_bytes_per_s, (point.size / point.time).count());
  }
  const SegmentFit fit = fitted_segments(points);
  rate.residual = fit.residual;
  rate.held_out = held_out_error(points);
  const double slope = fit.segments.back().bandwidth.count();
  const double last = (points.back().size / points.back().time).count();
  rate.sustained_bytes_per_s = std::isfinite(slope) ? std::min(slope, 2.0 * last) : last;
  rate.most_bytes_per_s = std::max(rate.most_bytes_per_s, rate.sustained_bytes_per_s);
  return rate;
}

std::optional<Ratio> traffic_ratio(const std::vector<MeasuredPoint>& points,
                                   const MeasuredCurve& curve, double activation_bytes,
                                   const std::vector<MemoryKernel>& kernels) {
  std::vector<double> logs;
  for (const MeasuredPoint& point : points) {
    const auto* memory = std::get_if<MemoryPoint>(&point.point);
    if (memory == nullptr ||
        std::find(kernels.begin(), kernels.end(), memory->kernel) == kernels.end()) {
      continue;
    }
    const auto pass = curve_cost(curve, Bytes(traffic(*memory, activation_bytes)));
    if (pass) logs.push_back(std::log(point.measured.time / pass->time));
  }
  if (logs.empty()) return std::nullopt;
  double mean = 0.0;
  for (const double value : logs) mean += value / static_cast<double>(logs.size());
  double variance = 0.0;
  for (const double value : logs) {
    variance += (value - mean) * (value - mean) / static_cast<double>(logs.size());
  }
  return Ratio{std::exp(mean), std::min(1.0, std::sqrt(variance))};
}

}  // namespace headway
