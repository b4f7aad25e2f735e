#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "reports/answers/study_document.h"
#include "reports/report_format.h"
#include "reports/write_file.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/files/json_document.h"
#include "sim/result/advice.h"
#include "sim/result/json/read_result.h"
#include "sim/sweep/sweep_study.h"

namespace headway {
namespace {

constexpr std::int64_t kMostAccelerators = 1 << 30;
constexpr std::size_t kMostResults = 10'000;

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

/// What is asked for, in any format.
struct Report {
  std::optional<Prediction> prediction;
  Study study;

  [[nodiscard]] std::string in(ReportFormat format) const {
    return prediction ? report_in(format, *prediction) : report_in(format, study);
  }
};

/// A folder with a store, or the store itself.
bool is_store(const std::string& path) {
  return std::filesystem::is_directory(path) || suffix_of(path) == ".db";
}

/// The points of all stores, which are shards of one sweep or sweeps with the same axes.
Study study_of_stores(const std::vector<std::string>& paths) {
  Study study;
  for (const std::string& path : paths) {
    Study one = study_of(read_sweep(path));
    const bool has_other_axes =
        !study.points.empty() && !one.points.empty() && axis_names(study) != axis_names(one);
    if (has_other_axes) {
      Diagnostic problem;
      problem.message = fmt::format("{} has other axes than {}", path, paths.front());
      problem.help = "report stores of one sweep together, others apart";
      throw InputError(std::move(problem));
    }
    if (study.name.empty()) {
      study = std::move(one);
    } else {
      std::ranges::move(one.points, std::back_inserter(study.points));
    }
  }
  return study;
}

/// A single result is a study too where something is to be shown beside it.
Report report_of(const std::vector<std::string>& paths, bool as_study) {
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

/// "GPUS=RATE"
std::vector<MeasuredThroughput> measured_in(const std::vector<std::string>& texts,
                                            Diagnostics& diagnostics) {
  std::vector<MeasuredThroughput> list;
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const auto gpus = whole_number_in(text.substr(0, equals), 1, kMostAccelerators);
    const std::string rate = equals < text.size() ? text.substr(equals + 1) : "";
    char* end = nullptr;
    const double value = std::strtod(rate.c_str(), &end);
    const bool is_known =
        gpus && std::ranges::find(list, *gpus, &MeasuredThroughput::accelerators) != list.end();
    if (gpus && !is_known && !rate.empty() && *end == '\0' && value > 0.0 && std::isfinite(value)) {
      list.push_back({*gpus, value});
    } else {
      Diagnostic problem;
      problem.message = is_known ? fmt::format("--measured speaks of {} GPUs twice", *gpus)
                                 : fmt::format("--measured {} is no throughput of a number of GPUs",
                                               in_quotes(text));
      problem.help =
          "such as --measured 1024=453000, tokens a second of the whole job; once for each number "
          "of GPUs";
      diagnostics.add(std::move(problem));
    }
  }
  return list;
}

/// A measurement of a size that was not predicted is drawn by itself, which may be a slip.
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
    warning.help = fmt::format("predicted are {} GPUs", fmt::join(predicted, ", "));
    diagnostics.add(std::move(warning));
  }
}

int run_report(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  Diagnostics diagnostics;
  const std::vector<OutputFile> files =
      report_files(arguments.values("output"), report_suffixes(), diagnostics);
  check_outputs(files, diagnostics);
  check_outputs_spare(files, arguments.positional(), diagnostics);
  const std::vector<MeasuredThroughput> measured =
      measured_in(arguments.values("measured"), diagnostics);
  diagnostics.throw_if_errors();
  Report report = report_of(arguments.positional(), !measured.empty());
  report.study.measured = measured;
  warn_of_lone_measurements(report.study, diagnostics);
  show_warnings(diagnostics, terminal);
  for (const OutputFile& file : files) {
    write_file(file.path, report.in(*format_of(file.path)));
    terminal.remark(fmt::format("wrote {}\n", file.path));
  }
  if (arguments.has("json")) {
    terminal.print(report.in(ReportFormat::json));
  } else if (files.empty()) {
    terminal.print(report.in(ReportFormat::markdown));
  }
  return kExitDone;
}

}  // namespace

Command report_command() {
  Command command;
  command.name = "report";
  command.group = "Predict";
  command.arguments = "RESULT...";
  command.summary = "results as a page, a text, a table";
  command.about =
      "Writes what `headway simulate` found as a report for people: an HTML page that needs no "
      "network, Markdown, CSV. RESULT is a file written by -o x.json or --json; several of them, "
      "or "
      "the folder of a sweep, give a scaling report.";
  command.examples = {
      {"headway report result.json -o result.html", "a page to send to somebody"},
      {"headway report sweep_folder -o scaling.html", "throughput and efficiency against GPUs"},
  };
  command.options = with_standard_options({
      {.name = "measured",
       .value = "GPUS=RATE",
       .help = "tokens/s that was measured, beside the predictions",
       .group = OptionGroup::input,
       .repeatable = true},
      json_option(),
      output_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = kMostResults;
  command.outcome = "nothing was written";
  command.details =
      "The page is one file with everything in it: charts with their numbers as tables below, "
      "light and dark, for paper too. Nothing is simulated again. Without -o the report goes to "
      "standard output as Markdown.";
  command.run = run_report;
  return command;
}

}  // namespace headway
