#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "sim/base/file_text.h"
#include "sim/costs/read_profile.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/read_model.h"
#include "sim/network/analysis/fabric_analysis.h"
#include "sim/network/read_topology.h"
#include "sim/predict/collective/collective_sweeps.h"
#include "sim/predict/predicted_memory.h"
#include "sim/result/json/read_result.h"
#include "sim/scenario/resolved_scenario.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/sync/sync_row.h"
#include "tests/fuzz/readers/readers.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr const char* kInput = "<input>";
constexpr int kMostHostsAnalysed = 64;  ///< bisection takes its time
constexpr std::size_t kMostRowsFollowed = 8;

/// A document in memory, opened as a file of a folder of the library.
struct OpenedInput {
  OpenedInput(const std::string& text, const char* folder)
      : held(kInput, text), files({}, data_folders(), diagnostics) {
    root = files.open(kInput, folder);
    diagnostics.throw_if_errors();
  }

  HeldFile held;
  Diagnostics diagnostics;
  InputFiles files;
  std::optional<JsonCursor> root;
};

}  // namespace

void scenario_reader(const std::string& text) {
  const HeldFile held(kInput, text);
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario(kInput, {}, diagnostics);
  static_cast<void>(predicted_memory(scenario, *scenario.strategy));
  const json& resolved = scenario.resolved;
  const Scenario again = read_resolved_scenario(resolved, "resolved", diagnostics);
  HEADWAY_CHECK(*again.resolved == resolved, "resolved once, a scenario stays what it is: " +
                                                 json::diff(resolved, *again.resolved).dump());
}

void model_reader(const std::string& text) {
  OpenedInput input(text, "scenarios/models");
  const auto read = read_model(*input.root, input.files);
  input.diagnostics.throw_if_errors();
  HEADWAY_CHECK(read.has_value(), "a model without errors is read");
}

void huggingface_reader(const std::string& text) {
  OpenedInput input(text, "scenarios/models");
  if (!is_huggingface_config(*input.root)) return;
  const auto read = read_huggingface(*input.root, input.diagnostics);
  input.diagnostics.throw_if_errors();
  HEADWAY_CHECK(read.has_value(), "a model without errors is read");
}

void topology_reader(const std::string& text) {
  OpenedInput input(text, "topologies");
  const auto read = read_topology(*input.root, input.files);
  input.diagnostics.throw_if_errors();
  HEADWAY_CHECK(read.has_value(), "a topology without errors is read");
  if (read->cluster->nodes > kMostHostsAnalysed) return;
  const FabricAnalysis analysis = analysed(*read->cluster);
  static_cast<void>(fabric_answer(*read->cluster, analysis).json());
}

void profile_reader(const std::string& text) {
  OpenedInput input(text, "calibrate/profiles/accelerators");
  const auto read = read_profile(*input.root, input.files);
  input.diagnostics.throw_if_errors();
  HEADWAY_CHECK(read.has_value(), "a profile without errors is read");
}

void steps_reader(const std::string& text) {
  OpenedInput input(text, "scenarios");
  std::vector<PublishedRow> rows = read_published_steps(*input.root, input.diagnostics);
  input.diagnostics.throw_if_errors();
  rows.resize(std::min(rows.size(), kMostRowsFollowed));
  for (const PublishedRow& row : rows) {
    std::vector<std::string> assumed;
    static_cast<void>(scenario_of_row(row, {}, assumed));
  }
}

void sync_reader(const std::string& text) {
  OpenedInput input(text, "scenarios");
  static_cast<void>(read_sync_rows(*input.root, input.diagnostics));
  input.diagnostics.throw_if_errors();
}

void collectives_reader(const std::string& text) {
  OpenedInput input(text, "scenarios");
  static_cast<void>(read_collective_sweeps(*input.root, input.diagnostics));
  input.diagnostics.throw_if_errors();
}

void result_reader(const std::string& text) {
  OpenedInput input(text, "scenarios");
  const Prediction prediction = read_result(*input.root, input.diagnostics);
  input.diagnostics.throw_if_errors();
  const Answer answer = prediction_answer(prediction);
  static_cast<void>(answer.text({}));
  for (const std::string& suffix : answer_suffixes()) {
    static_cast<void>(answer_as(suffix, answer));
  }
}

}  // namespace headway
