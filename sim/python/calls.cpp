#include "sim/python/calls.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "reports/answers/answers.h"
#include "sim/base/file_text.h"
#include "sim/base/join_words.h"
#include "sim/base/refuse.h"
#include "sim/base/shell_text.h"
#include "sim/base/utf8.h"
#include "sim/plan/plan_question.h"
#include "sim/predict/simulate.h"
#include "sim/sweep/sweep.h"

namespace headway {
namespace {

/// A source under a name by which the library reads it, as often as it likes.
class ReadableSource {
 public:
  explicit ReadableSource(const ScenarioSource& source)
      : path_(source.text ? "<scenario>" : source.path) {
    options_.overrides = source.overrides;
    if (source.text) held_.emplace(path_, *source.text);
    if (path_ == "-") {
      refuse("standard input is no scenario of a program",
             "read it, and give what json.load makes of it");
    }
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const ScenarioOptions& options() const { return options_; }
  /// The command that does the same; of a text only its name is known.
  [[nodiscard]] std::string line(std::string_view command) const {
    return scenario_line(command, path_, options_);
  }

 private:
  std::string path_;
  ScenarioOptions options_;
  std::optional<HeldFile> held_;
};

void check_at_least_one(std::string_view name, std::int64_t value) {
  if (value >= 1) return;
  refuse(fmt::format("{} is {}; it must be a whole number from 1 on", name, value), "");
}

LaunchFramework framework_called(const std::string& name) {
  if (const auto framework = value_named<LaunchFramework>(name)) return *framework;
  refuse(fmt::format("framework cannot be {}", in_quotes(name)),
         "it is one of " + join_words(words_of<LaunchFramework>(), ", "));
}

}  // namespace

std::string resolved_text(const ScenarioSource& source, Diagnostics& diagnostics) {
  const ReadableSource readable(source);
  return read_scenario(readable.path(), readable.options(), diagnostics).resolved->dump();
}

std::string simulated_text(const ScenarioSource& source, const SimulateCall& call,
                           Diagnostics& diagnostics) {
  check_at_least_one("jobs", call.jobs);
  check_at_least_one("reference", call.reference.value_or(1));
  const ReadableSource readable(source);
  const Scenario scenario = read_scenario(readable.path(), readable.options(), diagnostics);
  SimulateOptions options;
  options.jobs = call.jobs;
  options.reference_accelerators = call.reference;
  if (call.what_if) options.what_if = WhatIfExtent::everything;
  options.even_if_it_does_not_fit = call.even_if_it_does_not_fit;
  options.command_line = readable.line("simulate");
  return prediction_answer(simulate_in_full(scenario, options).prediction).json();
}

SweepContent swept(const ScenarioSource& source, const SweepCall& call, Diagnostics& diagnostics) {
  check_at_least_one("jobs", call.jobs);
  const ReadableSource readable(source);
  std::vector<Axis> axes = parse_axes(call.axes, diagnostics);
  diagnostics.throw_if_errors();
  if (axes.empty()) {
    refuse("a sweep needs an axis", R"({"gpus": [64, 128, 256]}, for example)");
  }
  const SweepJob job =
      read_sweep_job(readable.path(), readable.options(), std::move(axes), diagnostics);
  SweepOptions options;
  options.folder = call.folder;
  options.jobs = call.jobs;
  options.command_line = readable.line("sweep");
  for (const std::string& axis : call.axes) options.command_line += " --axis " + shell_quoted(axis);
  options.command_line += " -o " + shell_quoted(call.folder);
  options.progress = [&](const SweepSummary&) { call.interruption(); };
  static_cast<void>(run_sweep(job, options));
  return read_sweep(call.folder, Predictions::left_out);
}

std::string planned_text(const ScenarioSource& source, const PlanCall& call,
                         Diagnostics& diagnostics) {
  check_at_least_one("jobs", call.jobs);
  check_at_least_one("best", call.best.value_or(1));
  const ReadableSource readable(source);
  PlanOptions options;
  options.leaders.path = readable.path();
  options.leaders.options = readable.options();
  options.leaders.jobs = call.jobs;
  options.leaders.progress = [&](std::size_t, std::size_t) { call.interruption(); };
  options.kept.insert(call.keep.begin(), call.keep.end());
  if (call.framework) options.framework = framework_called(*call.framework);
  const PlanQuestion question =
      read_plan_question(std::move(options), call.goal, call.best, diagnostics);
  return plan_answer(planned(question, diagnostics)).json();
}

}  // namespace headway
