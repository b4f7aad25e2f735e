#include "sim/sweep/sweep_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/fingerprint.h"
#include "sim/base/quantity_text.h"
#include "sim/base/refuse.h"
#include "sim/base/shell_text.h"
#include "sim/network/routing/routing.h"
#include "sim/predict/job_run_memory.h"
#include "sim/predict/predicted_memory.h"
#include "sim/predict/simulate.h"
#include "sim/result/words/advice.h"
#include "sim/scenario/provenance.h"
#include "sim/sweep/axis_field.h"

namespace headway {
namespace {

using nlohmann::json;

std::string key_of(const Scenario& scenario) {
  return fingerprint_text(scenario.resolved.text() + profile_fingerprint(scenario));
}

std::string problem_list(const InputError& error) {
  std::string list;
  for (const Diagnostic& problem : error.diagnostics()) {
    if (problem.severity != Severity::error) continue;
    list += (list.empty() ? "" : "; ") + problem.message;
    if (!problem.label.empty()) list += fmt::format(" ({})", problem.label);
  }
  return list;
}

std::string shortage_text(const MemoryPrediction& memory) {
  const StageMemory& stage = memory.stages[static_cast<std::size_t>(memory.fullest_stage)];
  if (stage.total() <= memory.capacity) return host_memory_text(memory);
  return fmt::format("stage {} needs {} of {}", memory.fullest_stage, short_text(stage.total()),
                     short_text(memory.capacity));
}

/// Whether points differ in what is reckoned after the simulation.
bool has_axis_of_afterwards(const SweepJob& job) {
  return std::ranges::any_of(job.axes, [](const Axis& axis) {
    return axis.name.starts_with("/reliability/") || axis.name.starts_with("/cost/");
  });
}

void simulate_point(const Scenario& scenario, const std::string& line, bool only_read,
                    bool remembers, SweepPoint& point) {
  if (only_read) {
    const MemoryPrediction memory = predicted_memory(scenario, *scenario.strategy);
    if (memory.fits) return;
    point.status = PointStatus::does_not_fit;
    point.reason = shortage_text(memory);
    return;
  }
  static JobRunMemory memory;  // of this process, which takes many points
  point.prediction = std::make_shared<const Prediction>(
      simulate(scenario, {.memory = remembers ? &memory : nullptr, .command_line = line})
          .prediction);
  if (point.prediction->memory.fits) return;
  point.status = PointStatus::does_not_fit;
  point.reason = shortage_text(point.prediction->memory);
}

}  // namespace

std::string scenario_line(std::string_view command, const std::string& path,
                          const ScenarioOptions& options) {
  std::string line = fmt::format("headway {} {}", command, shell_quoted(path));
  if (options.profile) line += " --profile " + shell_quoted(*options.profile);
  if (options.seed) line += fmt::format(" --seed {}", *options.seed);
  if (options.replicas) line += fmt::format(" --replicas {}", *options.replicas);
  for (const Override& field : options.overrides) {
    line += " --set " + shell_quoted(field.pointer + "=" + field.value_text);
  }
  return line;
}

std::string simulate_line(const std::string& path, const ScenarioOptions& options) {
  return scenario_line("simulate", path, options);
}

SweepJob read_sweep_job(const std::string& path, const ScenarioOptions& options,
                        std::vector<Axis> axes, Diagnostics& diagnostics) {
  if (path == "-") {
    refuse("a sweep reads its scenario once for every point, which standard input does not allow",
           "write it to a file");
  }
  SweepJob job{.path = path, .options = options, .base = {}, .axes = std::move(axes)};
  job.options.memory = std::make_shared<ReadMemory>();
  job.base = read_scenario(path, job.options, diagnostics);
  job.inputs = key_of(job.base);
  check_axes(job.axes, job.base, diagnostics);
  diagnostics.throw_if_errors();
  return job;
}

std::optional<SweepPoint> run_point(const SweepJob& job, std::int64_t index,
                                    const FingerprintSet& keys, bool only_read) {
  SweepPoint point = failed_point(job, index, "");
  ScenarioOptions options = job.options;
  for (Override& field : point_overrides(point.axes, job.base)) {
    options.overrides.push_back(std::move(field));
  }
  try {
    Diagnostics diagnostics;
    const Scenario scenario = read_scenario(job.path, options, diagnostics);
    point.key = key_of(scenario);
    if (keys.contains(point.key)) return std::nullopt;
    point.scenario = scenario.resolved;
    point.status = PointStatus::done;
    simulate_point(scenario, simulate_line(job.path, options), only_read,
                   has_axis_of_afterwards(job), point);
  } catch (const InputError& error) {
    point.status = PointStatus::refused;
    point.reason = problem_list(error);
  } catch (const UnreachableError& error) {
    point.status = PointStatus::refused;
    point.reason = error.what();
  }
  return point;
}

SweepPoint failed_point(const SweepJob& job, std::int64_t index, std::string reason) {
  SweepPoint point;
  point.axes = point_values(job.axes, index);
  point.key = fingerprint_text(job.inputs + point.axes->dump());
  point.status = PointStatus::failed;
  point.reason = std::move(reason);
  return point;
}

}  // namespace headway
