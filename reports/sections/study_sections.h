#pragma once

#include <string>
#include <vector>

#include "reports/document/document.h"
#include "sim/result/study.h"

namespace headway {

// The sections of a report on many predictions.

/// Whether the point was simulated.
[[nodiscard]] bool has_speed(const StudyPoint& point);
/// Tokens a second; samples where no tokens are counted.
[[nodiscard]] double throughput_of(const Prediction& prediction);
[[nodiscard]] std::string throughput_unit(const Prediction& prediction);
/// "gpus 64, pipeline_parallel 4"
[[nodiscard]] std::string point_name(const StudyPoint& point);

/// The fastest point of each number of accelerators, fewest first. Of equal ones the first.
[[nodiscard]] std::vector<const StudyPoint*> best_by_scale(const Study& study);

/// Throughput and efficiency against accelerators. Requires a scale.
[[nodiscard]] DocumentSection scaling_section(const Study& study,
                                              const std::vector<const StudyPoint*>& best);
/// Shares of causes by scale.
[[nodiscard]] DocumentSection time_by_scale_section(const std::vector<const StudyPoint*>& best);
/// A heat map over the two axes that vary most, for each pair the best of the others. No blocks if
/// fewer than two axes vary.
[[nodiscard]] DocumentSection strategy_section(const Study& study);
/// A row a point.
[[nodiscard]] DocumentSection points_section(const Study& study);

}  // namespace headway
