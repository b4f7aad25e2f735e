#include "calibrate/train/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/measure/statistics.h"
#include "calibrate/train/predicted_step.h"
#include "sim/base/diagnostic.h"
#include "sim/base/text_table.h"

namespace headway {
namespace {

constexpr double kMostContaminated = 0.05;
constexpr double kMostDifference = 0.05;

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); }
std::string percent(double share) { return fmt::format("{:+.1f} %", 100.0 * share); }

}  // namespace

Comparison compared(const std::vector<MeasuredStep>& measured,
                    const std::vector<Profile>& profiles) {
  HEADWAY_CHECK(!measured.empty() && !profiles.empty(), "a comparison of nothing");
  using Align = TextTable::Align;
  TextTable table({{"step"},
                   {"ranks", Align::right},
                   {"measured ms", Align::right},
                   {"+-", Align::right},
                   {"predicted ms", Align::right},
                   {"error", Align::right},
                   {"preempted", Align::right}});
  std::vector<double> errors;
  std::vector<double> differences;
  double contaminated = 0.0;
  for (const MeasuredStep& row : measured) {
    std::vector<double> predictions;
    for (const Profile& profile : profiles) {
      predictions.push_back(predicted_step_time(row.step, row.ranks, profile));
    }
    const double predicted = (predictions.front() + predictions.back()) / 2.0;
    differences.push_back(std::abs(predictions.front() - predictions.back()) / predicted);
    errors.push_back(std::abs(predicted / row.time_s - 1.0));
    contaminated += row.contaminated / static_cast<double>(measured.size());
    table.add_row({row.step.id, fmt::format("{}", row.ranks), milliseconds(row.time_s),
                   fmt::format("{:.1f} %", 100.0 * row.spread), milliseconds(predicted),
                   percent(predicted / row.time_s - 1.0),
                   fmt::format("{:.0f} %", 100.0 * row.contaminated)});
  }
  std::sort(errors.begin(), errors.end());
  Comparison result;
  result.table = table.text();
  result.median_error = quantile(errors, 0.5);
  result.p90_error = quantile(errors, 0.9);
  const double difference = median(differences);
  result.summary = fmt::format(
      "{} steps: error median {:.1f} %, p90 {:.1f} %, worst {:.1f} %; {:.1f} % of steps preempted; "
      "calibrations differ by {:.1f} %",
      errors.size(), 100.0 * result.median_error, 100.0 * result.p90_error, 100.0 * errors.back(),
      100.0 * contaminated, 100.0 * difference);
  result.verdict = "ok";
  if (contaminated > kMostContaminated) {
    result.verdict = "inconclusive";
    result.reason = "the machine was shared with other work";
  } else if (difference > kMostDifference) {
    result.verdict = "inconclusive";
    result.reason = "the machine changed between the calibrations";
  } else if (result.median_error > kMedianGoal || result.p90_error > kP90Goal) {
    result.verdict = "off";
    result.reason = "the predictions are further off than 5 % in the median or 10 % at p90";
  }
  return result;
}

}  // namespace headway
