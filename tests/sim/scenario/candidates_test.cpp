#include "sim/scenario/candidates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using nlohmann::json;

json with_two() {
  json scenario = small_scenario(4);
  scenario["cost"] = {{"usd_per_gpu_hour", 2.0}, {"price_spread", 0.1}};
  scenario["candidates"] = {{{"name", "A"}},
                            {{"name", "B"},
                             {"delivery", 2},
                             {"cost", {{"usd_per_gpu_hour", 3.0}}},
                             {"profile", "h200_sxm"},
                             {"topology", "hgx_h200_400g"}}};
  return scenario;
}

struct File {
  explicit File(const json& scenario) : path(scratch.write("scenario.json", scenario.dump())) {}
  [[nodiscard]] Scenario read(const std::vector<Override>& overrides = {}) const {
    Diagnostics diagnostics;
    return read_scenario(path, {.overrides = overrides}, diagnostics);
  }
  ScratchFolder scratch;
  std::string path;
};

TEST(Candidates, AScenarioIsItsFirst) {
  const File file(with_two());
  const Scenario scenario = file.read();
  EXPECT_EQ(scenario.cluster->name, "small");
  EXPECT_EQ(scenario.resolved->at("cost").at("usd_per_gpu_hour"), 2.0);
  EXPECT_FALSE(scenario.resolved->contains("candidates"));
}

TEST(Candidates, FieldsOfAPartAreTakenInsteadOfTheScenarios) {
  const File file(with_two());
  const Scenario scenario = file.read({{"/candidate", "B"}, {"/cluster/nodes", "1"}});
  EXPECT_EQ(scenario.cluster->name, "hgx-h200-400g");
  EXPECT_EQ(scenario.cluster->nodes, 1);
  EXPECT_EQ(scenario.profile->name, "h200_sxm");
  EXPECT_EQ(scenario.resolved->at("cost").at("usd_per_gpu_hour"), 3.0);
  EXPECT_EQ(scenario.resolved->at("cost").at("price_spread"), 0.1);  // stays
}

TEST(Candidates, WhatIsSetOnTheCommandLineWins) {
  const File file(with_two());
  const Scenario scenario =
      file.read({{"/candidate", "B"}, {"/cluster/nodes", "1"}, {"/cost/usd_per_gpu_hour", "4"}});
  EXPECT_EQ(scenario.resolved->at("cost").at("usd_per_gpu_hour"), 4);
}

TEST(Candidates, SayHowTheyAreDelivered) {
  const File file(with_two());
  Diagnostics diagnostics;
  const PlanFields fields = read_plan_fields(file.path, {}, diagnostics);
  ASSERT_EQ(fields.candidates.size(), 2U);
  const Scenario scenario = file.read();
  EXPECT_EQ(delivered_nodes(fields.candidates[0], scenario), 1);  // a domain is a node
  EXPECT_EQ(delivered_nodes(fields.candidates[1], scenario), 2);
}

TEST(Candidates, AnUnknownOneIsToldWithThoseThereAre) {
  const File file(with_two());
  EXPECT_EQ(problems_in([&] {
              static_cast<void>(file.read({{"/candidate", "C"}}));
            }),
            "error: no candidate is called \"C\"\n"
            "  --> --set /candidate=C   /candidate\n"
            "  help: there are A, B\n"
            "\n"
            "1 problem; nothing was done.\n");
}

TEST(Candidates, ProblemsOfTheListAreTold) {
  json scenario = with_two();
  scenario["candidates"][1]["name"] = "A";
  scenario["candidates"][1]["profil"] = "h100_sxm";
  const File file(scenario);
  const std::string problems = problems_in([&] { static_cast<void>(file.read()); });
  EXPECT_NE(problems.find("two candidates are called \"A\""), std::string::npos) << problems;
  EXPECT_NE(problems.find("did you mean \"profile\""), std::string::npos) << problems;
}

}  // namespace
}  // namespace headway
