// Predicts published steps in closed form, again and again with other constants: what the fit of
// the published profiles asks. Usage: closed_form_rows ROWS.json
//
// Writes one line first: the rows that can be predicted, as [{"id", "group", "source", ...}].
// Then answers every line {"profiles": {"PROFILE": {"/json/pointer": value, ...}, ...}, "sources":
// {"SOURCE": {"kernel_time": factor, ...}}} on standard input, which changes profiles of the data
// folder and says how sources differ from others (as they ship, where it says nothing of either),
// with a line [seconds, ...], a row each.

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/files/input_files.h"
#include "sim/jobs/strategy.h"
#include "sim/programs/closed_form.h"
#include "sim/validate/changed_profile.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/source_effects.h"
#include "sim/validate/validation_row.h"

namespace headway {
namespace {

struct Row {
  Scenario scenario;
  std::string source;
  std::string release;
  bool is_mixture = false;
  nlohmann::json description;
};

std::vector<Row> read_rows(const std::string& path) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::read(path, diagnostics);
  diagnostics.throw_if_errors();
  const auto all = read_published_steps(JsonCursor(document), diagnostics);
  diagnostics.throw_if_errors();
  std::vector<Row> rows;
  for (const PublishedRow& published : all) {
    std::vector<std::string> assumed;
    auto scenario = scenario_of_row(published, {}, assumed);
    if (const auto* refusal = std::get_if<Refusal>(&scenario)) {
      fmt::print(stderr, "{}: {}\n", published.head.id, refusal->reason);
      continue;
    }
    Row row{.scenario = std::move(std::get<Scenario>(scenario)),
            .source = published.head.source,
            .release = published.release,
            .is_mixture = published.head.kind == "moe",
            .description = {}};
    row.description = {
        {"id", published.head.id},
        {"group", published.head.group.empty() ? published.head.id : published.head.group},
        {"source", published.head.source},
        {"framework", published.head.framework},
        {"release", published.release},
        {"accelerator", published.head.accelerator},
        {"precision", published.head.precision},
        {"task", published.train->value("task", "pretrain")},
        {"experts", row.scenario.model.routing() != nullptr},
        {"mixture", row.is_mixture},
        {"family", row.scenario.strategy->kernel_family},
        {"profile", row.scenario.profile->name},
        {"published_s", published.head.published_s}};
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Once a pipeline is full, every round of micro-batches takes as long as the one before: a long
/// step is a short one and a number of rounds.
double predicted(const Scenario& scenario) {
  const auto time = [&](std::int64_t micro_batches) {
    Strategy strategy = *scenario.strategy;
    strategy.global_batch = micro_batches * strategy.micro_batch * strategy.data_parallel;
    return closed_form_iteration(scenario.model, strategy, *scenario.profile, *scenario.cluster,
                                 scenario.placement, scenario.perturbation)
        .count();
  };
  const std::int64_t count = scenario.strategy->micro_batches();
  const std::int64_t round = scenario.strategy->pipeline_parallel;
  const std::int64_t rounds_left_out = count / round - 4;
  if (rounds_left_out < 2) return time(count);
  const std::int64_t few = count - rounds_left_out * round;
  const double short_step = time(few);
  return short_step + static_cast<double>(rounds_left_out) * (time(few + round) - short_step);
}

nlohmann::json predictions(const std::vector<Row>& rows, const nlohmann::json& question,
                           const std::map<std::string, std::shared_ptr<const Profile>>& unchanged) {
  std::map<std::string, std::shared_ptr<const Profile>> profiles = unchanged;
  const nlohmann::json changed = question.value("profiles", nlohmann::json::object());
  for (const auto& [name, changes] : changed.items()) {
    profiles[name] = changed_profile(name, changes);
  }
  const auto effects = question.contains("sources") ? source_effects_in(question.at("sources"))
                                                    : known_source_effects();
  nlohmann::json times = nlohmann::json::array();
  for (const Row& row : rows) {
    Scenario scenario = row.scenario;
    scenario.profile = profiles.at(scenario.profile->name);
    scenario.perturbation.device_spread = scenario.profile->variation.device_speed.value;
    times.push_back(predicted(with_source_effects(
        std::move(scenario), effects_of_source(effects, row.source, row.release, row.is_mixture))));
  }
  return times;
}

int run(const std::string& path) {
  const std::vector<Row> rows = read_rows(path);
  std::map<std::string, std::shared_ptr<const Profile>> unchanged;
  nlohmann::json described = nlohmann::json::array();
  for (const Row& row : rows) {
    described.push_back(row.description);
    unchanged.emplace(row.scenario.profile->name, row.scenario.profile);
  }
  std::cout << described << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << predictions(rows, nlohmann::json::parse(line), unchanged) << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace headway

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: closed_form_rows ROWS.json\n");
    return 2;
  }
  try {
    return headway::run(argv[1]);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}\n", failure.what());
    return 2;
  }
}
