#include "sim/sweep/read_reported.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "sim/base/join_words.h"
#include "sim/base/refuse.h"
#include "sim/files/json_document.h"
#include "sim/result/json/read_result.h"
#include "sim/result/words/advice.h"
#include "sim/sweep/sweep_study.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

Prediction result_in(const std::string& path, Diagnostics& diagnostics) {
  const auto document = JsonDocument::read(path, diagnostics);
  if (document == nullptr) return {};
  return read_result(JsonCursor(document), diagnostics);
}

std::vector<std::string> axis_names(const Study& study) {
  std::vector<std::string> names;
  for (const auto& [axis, value] : study.points.front().axes) names.push_back(axis);
  return names;
}

/// Several results side by side: each is a point, told by its file.
Study study_of(const std::vector<std::string>& paths, const std::vector<Prediction>& predictions) {
  Study study{.name = paths.size() == 1 ? paths.front() : fmt::format("{} results", paths.size())};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    study.points.push_back({{{"result", paths[i]}},
                            predictions[i],
                            was_simulated(predictions[i]) ? "" : closing_sentence(predictions[i])});
  }
  return study;
}

/// A folder with a store, or the store itself.
bool is_store(const std::string& path) {
  return fs::is_directory(path) || fs::path(path).extension() == ".db";
}

/// The points of all stores, which are shards of one sweep or sweeps with the same axes.
Study study_of_stores(const std::vector<std::string>& paths) {
  Study study;
  for (const std::string& path : paths) {
    Study one = study_of(StoredSweep(path));
    const bool has_other_axes =
        !study.points.empty() && !one.points.empty() && axis_names(study) != axis_names(one);
    if (has_other_axes) {
      refuse(fmt::format("{} has other axes than {}", path, paths.front()),
             "report stores of one sweep together, others apart");
    }
    if (study.name.empty()) {
      study = std::move(one);
    } else {
      std::ranges::move(one.points, std::back_inserter(study.points));
    }
  }
  return study;
}

}  // namespace

Reported read_reported(const std::vector<std::string>& paths, bool as_study) {
  const auto stores = std::ranges::count_if(paths, is_store);
  if (stores == std::ssize(paths)) return {std::nullopt, study_of_stores(paths)};
  Diagnostics diagnostics;
  if (stores > 0) {
    Diagnostic problem;
    problem.message = "stores of sweeps and single results do not go into one report";
    problem.help = "report them apart";
    diagnostics.add(std::move(problem));
    diagnostics.throw_if_errors();
  }
  std::vector<Prediction> predictions;
  for (const std::string& path : paths) predictions.push_back(result_in(path, diagnostics));
  diagnostics.throw_if_errors();
  if (predictions.size() == 1 && !as_study) return {std::move(predictions.front()), {}};
  return {std::nullopt, study_of(paths, predictions)};
}

void warn_of_lone_measurements(const Study& study, Diagnostics& diagnostics) {
  std::set<std::int64_t> predicted;
  for (const StudyPoint& point : study.points) {
    const bool has_time = point.prediction && point.prediction->iteration_time > Seconds(0.0);
    if (has_time) predicted.insert(point.prediction->question.accelerators);
  }
  for (const MeasuredThroughput& measured : study.measured) {
    if (predicted.contains(measured.accelerators)) continue;
    Diagnostic warning{.severity = Severity::warning};
    warning.message = fmt::format(
        "--measured {}: nothing was predicted for so many GPUs, the point stands by itself",
        measured.accelerators);
    warning.help = fmt::format("predicted are {} GPUs", join_words(predicted, ", "));
    diagnostics.add(std::move(warning));
  }
}

}  // namespace headway
