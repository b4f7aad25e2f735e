#include "calibrate/output/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "calibrate/measure/statistics.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"

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

std::vector<std::string> refused_texts(const std::vector<RefusedPoint>& refused) {
  std::map<std::string, std::vector<std::string>> points;
  for (const RefusedPoint& one : refused) points[one.reason].push_back(point_text(one.point));
  std::vector<std::string> texts;
  for (auto& [reason, names] : points) {
    std::sort(names.begin(), names.end());  // not in the random order of the passes
    texts.push_back(fmt::format("{}: {} ({})", counted(std::ssize(names), "point"), reason,
                                join_words(names, ", ")));
  }
  return texts;
}

std::string verdict(const Calibration& calibration) {
  if (calibration.is_aborted) return "aborted";
  return quality(calibration.points).contaminated_share > kNoisyShare ? "noisy" : "ok";
}

}  // namespace headway
