#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace headway
