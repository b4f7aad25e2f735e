#include "sim/sweep/sweep_study.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"

namespace headway {

StudyPoint study_point(const SweepPoint& point) {
  StudyPoint shown{.reason = point.reason};
  if (point.prediction) shown.prediction = *point.prediction;
  for (const auto& [axis, value] : point.axes->items()) {
    shown.axes.emplace_back(axis, unquoted_json(value));
  }
  return shown;
}

Study study_of(const StoredSweep& sweep) {
  Study study{.name = "Sweep of " + sweep.header().scenario,
              .command_line = sweep.header().command_line};
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < sweep.size(); ++i) {
    study.points.push_back(study_point(sweep.point(i, Predictions::read, diagnostics)));
  }
  diagnostics.throw_if_errors();
  return study;
}

}  // namespace headway
