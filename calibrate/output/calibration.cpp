#include "calibrate/output/calibration.h"

#include "calibrate/measure/statistics.h"

namespace headway {

Quality quality(const std::vector<MeasuredPoint>& points) {
  Quality result;
  std::vector<double> spreads;
  for (const MeasuredPoint& point : points) {
    result.samples += point.measured.samples;
    result.contaminated += point.measured.contaminated;
    spreads.push_back(point.measured.pass_spread);
    if (point.measured.samples > 0) {
      result.contaminated_share += static_cast<double>(point.measured.contaminated) /
                                   point.measured.samples / static_cast<double>(points.size());
    }
  }
  if (!spreads.empty()) result.pass_spread = median(spreads);
  return result;
}

std::string verdict(const Calibration& calibration) {
  if (calibration.is_aborted) return "aborted";
  return quality(calibration.points).contaminated_share > kNoisyShare ? "noisy" : "ok";
}

}  // namespace headway
