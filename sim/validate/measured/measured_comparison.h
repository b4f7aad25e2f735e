#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/words.h"
#include "sim/costs/profile.h"
#include "sim/costs/steps/training_step.h"

namespace headway {

/// Steps that were really run against what profiles of the same machine predict.
struct MeasuredComparison {
  struct Row {
    MeasuredStep measured;
    double predicted_s = 0.0;  ///< with two profiles, the mean of theirs
    [[nodiscard]] double error() const { return predicted_s / measured.time_s - 1.0; }
  };
  enum class Verdict { ok, off, inconclusive };

  std::vector<Row> rows;
  double median_error = 0.0;  ///< these three of |error|
  double p90_error = 0.0;
  double worst_error = 0.0;
  double contaminated = 0.0;  ///< mean over the rows
  /// How far two profiles' predictions are apart, median over the rows; nothing for one profile.
  std::optional<double> profiles_difference;
  Verdict verdict = Verdict::ok;
  std::string reason;  ///< of a verdict that is not ok
};

template <>
inline constexpr Word<MeasuredComparison::Verdict> kWords<MeasuredComparison::Verdict>[] = {
    {"ok", MeasuredComparison::Verdict::ok},
    {"off", MeasuredComparison::Verdict::off},
    {"inconclusive", MeasuredComparison::Verdict::inconclusive}};

/// The goal of "ok".
inline constexpr double kMedianErrorGoal = 0.05;
inline constexpr double kP90ErrorGoal = 0.10;
/// Beyond these the machine was too noisy to tell, and the verdict is "inconclusive".
inline constexpr double kMostContaminated = 0.05;
inline constexpr double kMostProfilesDifference = 0.05;

/// Compares rows with the predictions of one profile, or of two: one calibrated before the steps
/// were run and one after. Requires rows and one or two profiles. Throws InputError where a profile
/// lacks a collective that a step needs.
[[nodiscard]] MeasuredComparison measured_comparison(const std::vector<MeasuredStep>& measured,
                                                     const std::vector<Profile>& profiles,
                                                     int jobs = 1);

}  // namespace headway
