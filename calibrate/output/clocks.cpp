#include "calibrate/output/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/base/join_words.h"
#include "sim/base/quantile.h"
#include "sim/base/quantity_text.h"

namespace headway {

std::string clocks_text(const std::vector<MeasuredPoint>& points) {
  std::vector<double> clocks;
  std::map<std::string, int> reasons;
  for (const MeasuredPoint& point : points) {
    if (point.state.clock_hz > 0.0) clocks.push_back(point.state.clock_hz);
    for (const std::string& reason : point.state.throttled_by) ++reasons[reason];
  }
  if (clocks.empty()) return "";
  const double middle = median(clocks);
  const auto low = std::count_if(clocks.begin(), clocks.end(),
                                 [middle](double clock) { return clock < kLowClock * middle; });
  std::string text =
      fmt::format("{:.0f} MHz in the median, from {:.0f}; {} of {} below {:.0f} % of it",
                  1e-6 * middle, 1e-6 * *std::min_element(clocks.begin(), clocks.end()), low,
                  counted(std::ssize(clocks), "point"), 100.0 * kLowClock);
  std::vector<std::string> causes;
  for (const auto& [reason, count] : reasons) {
    causes.push_back(fmt::format("{} ({})", reason, counted(count, "point")));
  }
  if (!causes.empty()) text += fmt::format("; throttled by {}", join_words(causes, ", "));
  return text;
}

}  // namespace headway
