#pragma once

#include <string>
#include <vector>

#include "reports/document/document.h"
#include "sim/result/decision/choice.h"
#include "sim/result/study.h"

namespace headway {

// The sections of a report on many predictions.

/// Whether the point was simulated.
[[nodiscard]] bool has_speed(const StudyPoint& point);
/// Tokens a second; samples where no tokens are counted.
[[nodiscard]] double throughput_of(const Prediction& prediction);
[[nodiscard]] std::string throughput_unit(const Prediction& prediction);
/// What the point is judged by.
[[nodiscard]] Candidate candidate_of(const StudyPoint& point);
[[nodiscard]] std::vector<Candidate> candidates_of(const Study& study);

/// An axis of a study that has several values.
struct StudyAxis {
  std::size_t index = 0;
  std::string name;
  std::vector<std::string> values;  ///< in the order of the points
};
[[nodiscard]] std::vector<StudyAxis> varying_axes(const Study& study);

/// The fastest point of each number of accelerators, fewest first. Of equal ones the first.
[[nodiscard]] std::vector<const StudyPoint*> best_by_scale(const Study& study);

/// Throughput and efficiency against accelerators. Requires a scale.
[[nodiscard]] DocumentSection scaling_section(const Study& study,
                                              const std::vector<const StudyPoint*>& best);
/// What the study is about, against every axis that varies, whatever it is: a curve where its
/// values are numbers, else bars. No blocks if none does.
[[nodiscard]] DocumentSection axis_section(const Study& study, Objective objective);
/// Shares of causes by scale.
[[nodiscard]] DocumentSection time_by_scale_section(const std::vector<const StudyPoint*>& best);
/// A heat map over the two axes that vary most, for each pair the best of the others. No blocks if
/// fewer than two axes vary.
[[nodiscard]] DocumentSection strategy_section(const Study& study);
/// A row a point.
[[nodiscard]] DocumentSection points_section(const Study& study);

}  // namespace headway
