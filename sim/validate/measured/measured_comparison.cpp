#include "sim/validate/measured/measured_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/quantile.h"
#include "sim/validate/measured/predicted_step.h"

namespace headway {
namespace {

void judge(MeasuredComparison& result) {
  result.verdict = MeasuredComparison::Verdict::inconclusive;
  if (result.contaminated > kMostContaminated) {
    result.reason = "the machine was shared with other work";
  } else if (result.profiles_difference.value_or(0.0) > kMostProfilesDifference) {
    result.reason = "the machine changed between the calibrations";
  } else if (result.median_error > kMedianErrorGoal || result.p90_error > kP90ErrorGoal) {
    result.verdict = MeasuredComparison::Verdict::off;
    result.reason =
        fmt::format("predictions are further off than {:.0f} % in the median or {:.0f} % at p90",
                    100.0 * kMedianErrorGoal, 100.0 * kP90ErrorGoal);
  } else {
    result.verdict = MeasuredComparison::Verdict::ok;
  }
}

}  // namespace

MeasuredComparison measured_comparison(const std::vector<MeasuredStep>& measured,
                                       const std::vector<Profile>& profiles, int jobs) {
  HEADWAY_CHECK(!measured.empty() && !profiles.empty() && profiles.size() <= 2,
                "rows and one or two profiles");
  MeasuredComparison result;
  std::vector<double> errors;
  std::vector<double> differences;
  for (const MeasuredStep& row : measured) {
    const auto predicted = [&row, jobs](const Profile& profile) {
      return predicted_step_time(row.step, row.ranks, profile, jobs).count();
    };
    const double before = predicted(profiles.front());
    const double after = profiles.size() > 1 ? predicted(profiles.back()) : before;
    const double mean = (before + after) / 2.0;
    differences.push_back(std::abs(before - after) / mean);
    result.rows.push_back({row, mean});
    errors.push_back(std::abs(result.rows.back().error()));
    result.contaminated += row.contaminated / static_cast<double>(measured.size());
  }
  std::sort(errors.begin(), errors.end());
  result.median_error = quantile(errors, 0.5);
  result.p90_error = quantile(errors, 0.9);
  result.worst_error = errors.back();
  if (profiles.size() > 1) result.profiles_difference = median(std::move(differences));
  judge(result);
  return result;
}

}  // namespace headway
