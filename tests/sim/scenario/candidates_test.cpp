#include "sim/scenario/candidates.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
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
            "  --> --set /candidate=C   /candidate: there are A, B\n"
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

TEST(Candidates, WhatIsWrongWithOneIsToldAtItsPlaceInTheFile) {
  json scenario = with_two();
  scenario["candidates"][1]["topology"] = "hgx_h200_400";
  const File file(scenario);
  const std::string problems = problems_in([&] {
    static_cast<void>(file.read({{"/candidate", "B"}, {"/cluster/nodes", "1"}}));
  });
  const std::size_t column = scenario.dump().find(R"("hgx_h200_400")") + 1;
  EXPECT_NE(problems.find(file.path + ":1:" + std::to_string(column) + "   /cluster/topology"),
            std::string::npos)
      << problems;
  EXPECT_NE(problems.find("hgx_h200_400g"), std::string::npos) << problems;
}

/// Parts of files stand beside the file, those of a command line where that is given.
TEST(Candidates, TheirFilesStandBesideTheScenario) {
  json scenario = with_two();
  scenario["candidates"][1] = {{"name", "B"}, {"topology", "mine.json"}};
  const File file(scenario);
  const json mine = scenario.at("cluster").at("topology");
  file.scratch.write("mine.json", mine.dump());
  EXPECT_EQ(file.read({{"/candidate", "B"}}).cluster->name, "small");
}

/// Two lists, of which both change the cost.
json with_alternatives() {
  json scenario = with_two();
  scenario["alternatives"] = {
      {"price",
       {{{"name", "low"}, {"cost", {{"usd_per_gpu_hour", 1.0}}}},
        {{"name", "high"}, {"cost", {{"usd_per_gpu_hour", 9.0}, {"price_spread", 0.3}}}}}},
      {"batch", {{{"name", "small"}}, {{"name", "large"}, {"strategy", {{"global_batch", 64}}}}}}};
  return scenario;
}

TEST(Alternatives, TheFirstOfEachListIsTaken) {
  const Scenario scenario = File(with_alternatives()).read();
  EXPECT_EQ(scenario.resolved->at("cost").at("usd_per_gpu_hour"), 1.0);
  EXPECT_EQ(scenario.resolved->at("cost").at("price_spread"), 0.1);
  EXPECT_EQ(scenario.strategy->global_batch, 32);
  EXPECT_FALSE(scenario.resolved->contains("alternatives"));
}

TEST(Alternatives, AreNamedOneOfEachListBehindTheCandidate) {
  const Scenario scenario = File(with_alternatives())
                                .read({{"/candidate", "\"B\""},
                                       {"/choose", R"({"price": "high", "batch": "large"})"},
                                       {"/cluster/nodes", "1"}});
  EXPECT_EQ(scenario.cluster->name, "hgx-h200-400g");
  EXPECT_EQ(scenario.resolved->at("cost").at("usd_per_gpu_hour"), 9.0);
  EXPECT_EQ(scenario.resolved->at("cost").at("price_spread"), 0.3);
  EXPECT_EQ(scenario.strategy->global_batch, 64);
}

TEST(Alternatives, UnknownNamesAreReported) {
  const std::string of_list = problems_in([] {
    static_cast<void>(File(with_alternatives()).read({{"/choose", R"({"prise": "high"})"}}));
  });
  EXPECT_NE(of_list.find("there is no such list of alternatives"), std::string::npos) << of_list;
  const std::string of_entry = problems_in([] {
    static_cast<void>(File(with_alternatives()).read({{"/choose", R"({"price": "hihg"})"}}));
  });
  EXPECT_NE(of_entry.find("did you mean \"high\"?"), std::string::npos) << of_entry;
}

}  // namespace
}  // namespace headway
