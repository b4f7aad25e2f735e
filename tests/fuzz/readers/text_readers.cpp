#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/imported.h"
#include "sim/base/limits.h"
#include "sim/files/json_output.h"
#include "sim/import/import_format.h"
#include "sim/launch/reading/launch_formats.h"
#include "sim/plan/goal.h"
#include "sim/replay/replay.h"
#include "sim/replay/step_log.h"
#include "sim/scenario/writing/shorter_scenario.h"
#include "sim/sweep/axis_field.h"
#include "sim/sweep/read_reported.h"
#include "sim/sweep/sweep_point.h"
#include "tests/fuzz/readers/readers.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

constexpr const char* kBase = "llama3_8b_64";
constexpr std::size_t kMostLines = 8;

/// What only reads files gets one, the same one every time.
const ScratchFolder& scratch() {
  static const ScratchFolder folder;
  return folder;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; lines.size() < kMostLines && std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

void set_reader(const std::string& text) {
  ScenarioOptions options;
  for (const std::string& line : lines_of(text)) options.overrides.push_back(parse_override(line));
  Diagnostics diagnostics;
  static_cast<void>(read_scenario(kBase, options, diagnostics));
}

void axis_reader(const std::string& text) {
  Diagnostics diagnostics;
  const std::vector<Axis> axes = parse_axes(lines_of(text), diagnostics);
  diagnostics.throw_if_errors();
  // A point is a scenario read: a small one, once.
  limits().cables = 512;
  static const std::string base = scratch().write("base.json", small_scenario(4).dump());
  const SweepJob job = read_sweep_job(base, {}, axes, diagnostics);
  const auto point = run_point(job, point_count(axes) / 2, {}, true);
  HEADWAY_CHECK(point.has_value(), "no point is known yet");
  HEADWAY_CHECK(point->status == PointStatus::done || !point->reason.empty(), "a word of why");
}

void goal_reader(const std::string& text) { static_cast<void>(parse_goal(text)); }

void trace_reader(const std::string& text) {
  const ReplayResult result = replay(scratch().write("trace.csv", text));
  static_cast<void>(replay_answer(result).json());
}

void log_reader(const std::string& text) {
  static_cast<void>(read_step_log(scratch().write("training.log", text)));
}

void store_reader(const std::string& text) {
  const Reported reported = read_reported({scratch().write("sweep.db", text)}, true);
  static_cast<void>(study_answer(reported.study).csv());
}

void import_reader(std::string_view format, const std::string& text) {
  ImportRequest request{.name = "imported"};
  std::size_t begin = 0;
  while (begin <= text.size() && request.paths.size() < kMostLines) {
    const std::size_t end = std::min(text.find(kFileEnd, begin), text.size());
    const std::string name = "dump" + std::to_string(request.paths.size());
    request.paths.push_back(scratch().write(name, text.substr(begin, end - begin)));
    begin = end + kFileEnd.size();
  }
  for (const ImportFormat& known : import_formats()) {
    if (known.name != format) continue;
    Diagnostics diagnostics;
    const auto imported = known.import(request, diagnostics);
    diagnostics.throw_if_errors();
    HEADWAY_CHECK(imported.has_value(), "what is imported without errors is there");
    static_cast<void>(imported_summary(json_document_text(*imported), known, diagnostics));
    return;
  }
  HEADWAY_CHECK(false, "there is no importer of that name");
}

void launch_reader(std::string_view name, const std::string& text) {
  ImportRequest request{.paths = {scratch().write("train.sh", text)},
                        .name = "imported",
                        .topology = "dgx_h100_superpod",
                        .profile = "h100_sxm"};
  if (name != "megatron-lm") {
    request.model = "llama3_8b";
    request.nodes = 4;
  }
  Diagnostics diagnostics;
  const ImportFormat& format = *std::ranges::find(launch_formats(), name, &ImportFormat::name);
  const auto imported = format.import(request, diagnostics);
  diagnostics.throw_if_errors();
  HEADWAY_CHECK(imported.has_value(), "what is imported without errors is there");
  const auto shorter = shorter_scenario(*imported, diagnostics);
  diagnostics.throw_if_errors();
  static_cast<void>(imported_summary(json_document_text(shorter), format, diagnostics));
}

}  // namespace headway
