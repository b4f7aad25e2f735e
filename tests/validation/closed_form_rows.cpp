// Predicts published steps in closed form, again and again with other constants: what the fit of
// the published profiles asks. Usage: closed_form_rows ROWS.json
//
// Writes one line first: the rows that can be predicted, as [{"id", "group", "source", ...}].
// Then answers every line {"PROFILE": {"/json/pointer": value, ...}, ...} on standard input, which
// changes profiles of the data folder, with a line [seconds, ...], a row each; an empty object
// means the profiles as they are.

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "sim/programs/closed_form.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/validation_row.h"

namespace headway {
namespace {

struct Row {
  Scenario scenario;
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
    auto scenario = scenario_of_row(published, assumed);
    if (const auto* refusal = std::get_if<Refusal>(&scenario)) {
      fmt::print(stderr, "{}: {}\n", published.head.id, refusal->reason);
      continue;
    }
    Row row{std::move(std::get<Scenario>(scenario)), {}};
    row.description = {
        {"id", published.head.id},
        {"group", published.head.group.empty() ? published.head.id : published.head.group},
        {"source", published.head.source},
        {"framework", published.head.framework},
        {"release", published.release},
        {"accelerator", published.head.accelerator},
        {"precision", published.head.precision},
        {"task", published.train->value("task", "pretrain")},
        {"experts", published.model->contains("moe") && !published.model->at("moe").is_null()},
        {"family", row.scenario.strategy.kernel_family},
        {"profile", row.scenario.profile->name},
        {"published_s", published.head.published_s}};
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A profile of the data folder with some values changed.
std::shared_ptr<const Profile> changed_profile(const std::string& name,
                                               const nlohmann::json& changes) {
  std::vector<Override> overrides;
  for (const auto& [pointer, value] : changes.items()) {
    overrides.push_back({"/profile" + pointer, value.dump()});
  }
  Diagnostics diagnostics;
  InputFiles files(std::move(overrides), data_folders(), diagnostics);
  const nlohmann::json part = {{"profile", name}};
  const JsonCursor root(JsonDocument::parse("fit", part.dump(), diagnostics));
  const auto profile = read_profile(*root.member("profile"), files);
  files.report_unused_overrides();
  diagnostics.throw_if_errors();
  return profile->profile;
}

/// Once a pipeline is full, every round of micro-batches takes as long as the one before: a long
/// step is a short one and a number of rounds.
double predicted(const Scenario& scenario, const Profile& profile) {
  const auto time = [&](std::int64_t micro_batches) {
    Strategy strategy = scenario.strategy;
    strategy.global_batch = micro_batches * strategy.micro_batch * strategy.data_parallel;
    return closed_form_iteration(scenario.model, strategy, profile, *scenario.cluster,
                                 scenario.placement, scenario.perturbation)
        .count();
  };
  const std::int64_t count = scenario.strategy.micro_batches();
  const std::int64_t round = scenario.strategy.pipeline_parallel;
  const std::int64_t rounds_left_out = count / round - 4;
  if (rounds_left_out < 2) return time(count);
  const std::int64_t few = count - rounds_left_out * round;
  const double short_step = time(few);
  return short_step + static_cast<double>(rounds_left_out) * (time(few + round) - short_step);
}

nlohmann::json predictions(const std::vector<Row>& rows, const nlohmann::json& changes,
                           const std::map<std::string, std::shared_ptr<const Profile>>& unchanged) {
  std::map<std::string, std::shared_ptr<const Profile>> profiles = unchanged;
  for (const auto& [name, values] : changes.items()) profiles[name] = changed_profile(name, values);
  nlohmann::json times = nlohmann::json::array();
  for (const Row& row : rows) {
    times.push_back(predicted(row.scenario, *profiles.at(row.scenario.profile->name)));
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
