#pragma once

#include <string>
#include <vector>

#include "calibrate/train/training_step.h"
#include "sim/profile/profile.h"

namespace headway {

/// Measured steps against what profiles predict.
struct Comparison {
  std::string table;    ///< a row a step
  std::string summary;  ///< median, p90 and worst error, contamination
  std::string verdict;  ///< "ok", "off" or "inconclusive"
  std::string reason;   ///< of a verdict that is not ok
  double median_error = 0.0;
  double p90_error = 0.0;
};

/// The goal of "ok": median and 90th percentile of the absolute relative errors.
inline constexpr double kMedianGoal = 0.05;
inline constexpr double kP90Goal = 0.10;

/// With two profiles, calibrated before and after, a prediction is the mean of theirs.
/// "inconclusive" if more than 5 % of the steps were contaminated or the profiles' predictions
/// differ by more than 5 % in the median: the machine was too noisy to tell. Requires rows and one
/// or two profiles.
[[nodiscard]] Comparison compared(const std::vector<MeasuredStep>& measured,
                                  const std::vector<Profile>& profiles);

}  // namespace headway
