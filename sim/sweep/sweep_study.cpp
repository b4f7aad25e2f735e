#include "sim/sweep/sweep_study.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"

namespace headway {

Study study_of(const SweepContent& sweep) {
  Study study{.name = "Sweep of " + sweep.header.scenario,
              .command_line = sweep.header.command_line};
  for (const SweepPoint& point : sweep.points) {
    StudyPoint shown{.reason = point.reason};
    if (point.prediction) shown.prediction = *point.prediction;
    for (const auto& [axis, value] : point.axes->items()) {
      shown.axes.emplace_back(axis, unquoted_json(value));
    }
    study.points.push_back(std::move(shown));
  }
  return study;
}

}  // namespace headway
