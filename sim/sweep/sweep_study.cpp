#include "sim/sweep/sweep_study.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/files/json_document.h"
#include "sim/result/json/read_result.h"

namespace headway {
namespace {

std::string value_text(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Study study_of(const SweepContent& sweep) {
  Study study{.name = "Sweep of " + sweep.header.scenario,
              .command_line = sweep.header.command_line};
  Diagnostics diagnostics;
  for (const SweepPoint& point : sweep.points) {
    StudyPoint shown{.reason = point.reason};
    for (const auto& [axis, value] : point.axes->items()) {
      shown.axes.emplace_back(axis, value_text(value));
    }
    if (point.result->is_object()) {
      const auto document =
          JsonDocument::parse("point " + point.key, point.result->dump(), diagnostics);
      if (document != nullptr) shown.prediction = read_result(JsonCursor(document), diagnostics);
    }
    study.points.push_back(std::move(shown));
  }
  diagnostics.throw_if_errors();
  return study;
}

}  // namespace headway
