#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// A point of a study: one job of many.
struct StudyPoint {
  std::vector<std::pair<std::string, std::string>> axes;  ///< what tells it from others, and value
  std::optional<Prediction> prediction;                   ///< nothing if there is no such job
  std::string reason;  ///< why it has no speed: does not fit, refused, failed; empty if it has one
};

/// A throughput that somebody measured, to be shown beside the predictions.
struct MeasuredThroughput {
  std::int64_t accelerators = 0;
  double per_second = 0.0;  ///< tokens (samples, where no tokens are counted) of the whole job
};

/// Many predictions of one question. Points of a study have the same names of axes.
struct Study {
  std::string name;          ///< "sweep of my.json"
  std::string command_line;  ///< that makes it again; may be empty
  std::vector<StudyPoint> points;
  std::vector<MeasuredThroughput> measured;
};

/// The scaling report: the answer, throughput and efficiency against GPUs with what ideal scaling
/// would give, where the time goes by scale, a map of two axes with what is not possible, the
/// fastest job in detail, all points. Sections of which there is nothing to show are left out.
[[nodiscard]] Document study_document(const Study& study);

/// A header and a row a point: the axes, why there is no speed, then as csv_table has it.
[[nodiscard]] std::string study_csv(const Study& study);

/// {"schema": "headway/study/1", "points": [{"axes", "reason", "result"}]}
[[nodiscard]] std::string study_json_text(const Study& study);

}  // namespace headway
