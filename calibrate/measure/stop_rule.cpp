#include "calibrate/measure/stop_rule.h"

#include <algorithm>

#include "calibrate/measure/statistics.h"
#include "sim/base/diagnostic.h"

namespace headway {

void PassSamples::add(Sample sample) {
  (sample.contaminated ? contaminated_ : clean_).push_back(sample.time.count());
  spent_ += (sample.time + sample.besides).count();
}

bool PassSamples::is_settled(const StopRule& rule) const {
  if (total() < StopRule::kFewest) return false;
  if (total() >= rule.most || spent_ >= rule.budget.count()) return true;
  // Looked at after every eighth sample only: sorting them each time costs more than small points.
  const int clean = static_cast<int>(clean_.size());
  return clean >= rule.least && (clean - rule.least) % 8 == 0 &&
         relative_median_interval(clean_) < rule.interval;
}

const std::vector<double>& PassSamples::times() const {
  return clean_.empty() ? contaminated_ : clean_;
}

double Measured::spread() const { return std::max(1.4826 * mad, pass_spread); }

Measured combined(const std::vector<PassSamples>& passes) {
  std::vector<double> all;
  std::vector<double> medians;
  Measured result;
  for (const PassSamples& pass : passes) {
    if (pass.total() == 0) continue;
    medians.push_back(median(pass.times()));
    all.insert(all.end(), pass.times().begin(), pass.times().end());
    result.samples += pass.total();
    result.contaminated += pass.contaminated();
  }
  HEADWAY_CHECK(!medians.empty(), "a point without a sample");
  const double time = median(medians);
  const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
  result.time = Seconds(time);
  result.mad = median_absolute_deviation(all) / time;
  result.pass_spread = (*most - *least) / 2.0 / time;
  std::sort(all.begin(), all.end());
  result.p95 = Seconds(quantile(all, 0.95));
  return result;
}

}  // namespace headway
