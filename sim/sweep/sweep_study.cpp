#include "sim/sweep/sweep_study.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"

namespace headway {
namespace {

std::string value_text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : compact_json(value);
}

}  // namespace

Study study_of(const SweepContent& sweep) {
  Study study{.name = "Sweep of " + sweep.header.scenario,
              .command_line = sweep.header.command_line};
  for (const SweepPoint& point : sweep.points) {
    StudyPoint shown{.reason = point.reason};
    if (point.prediction) shown.prediction = *point.prediction;
    for (const auto& [axis, value] : point.axes->items()) {
      shown.axes.emplace_back(axis, value_text(value));
    }
    study.points.push_back(std::move(shown));
  }
  return study;
}

}  // namespace headway
