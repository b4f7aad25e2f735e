#include "sim/plan/planned_scenario.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// Eight accelerators and a batch that four replicas can share, but not eight.
nlohmann::json with_odd_batch() {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"] = {{"global_batch", 12}, {"micro_batch", 1}};
  return scenario;
}

Scenario read(const nlohmann::json& scenario, std::set<std::string> kept = {}) {
  const ScratchFolder scratch;
  PlanOptions options;
  options.leaders.path = scratch.write("scenario.json", scenario.dump());
  options.kept = std::move(kept);
  Diagnostics diagnostics;
  return read_planned(options, PlannedCluster::as_given, diagnostics);
}

TEST(PlannedScenario, BeginsWithDegreesByWhichTheBatchDivides) {
  const Scenario planned = read(with_odd_batch());
  EXPECT_EQ(planned.strategy->ranks(), 8);
  EXPECT_EQ(12 % planned.strategy->data_parallel, 0);
}

TEST(PlannedScenario, DegreesThatAreWrittenOrKeptStay) {
  nlohmann::json scenario = with_odd_batch();
  EXPECT_EQ(read(scenario, {"pipeline_parallel"}).strategy->tensor_parallel, 2);
  EXPECT_EQ(read(scenario, {"tensor_parallel"}).strategy->pipeline_parallel, 2);
  const std::set<std::string> both = {"pipeline_parallel", "tensor_parallel"};
  const auto is_of_batch = testing::HasSubstr("global_batch must be a multiple of micro_batch x");
  EXPECT_THAT(problems_in([&] { static_cast<void>(read(scenario, both)); }), is_of_batch);
  scenario["strategy"]["pipeline_parallel"] = 1;
  EXPECT_EQ(read(scenario).strategy->tensor_parallel, 2);
  scenario["strategy"]["tensor_parallel"] = 1;
  EXPECT_THAT(problems_in([&] { static_cast<void>(read(scenario)); }), is_of_batch);
}

/// A preset that shards parameters, and a pipeline whose stages would gather them for every
/// micro-batch: the plan replaces both.
TEST(PlannedScenario, BeginsWithoutSearchedFieldsThatDoNotGoTogether) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"] = {
      {"preset", "torchtitan"}, {"pipeline_parallel", 2}, {"micro_batch", 1}, {"global_batch", 16}};
  EXPECT_EQ(read(scenario).strategy->pipeline_parallel, 1);
  const auto is_of_shards = testing::HasSubstr("zero_stage 3 does not go with a pipeline where");
  const std::set<std::string> both = {"pipeline_parallel", "zero_stage"};
  EXPECT_THAT(problems_in([&] { static_cast<void>(read(scenario, both)); }), is_of_shards);
  scenario["strategy"]["virtual_stages"] = 2;  // whose pipeline goes
  EXPECT_EQ(read(scenario).strategy->virtual_stages, 1);
  // What is wrong by itself is told.
  scenario["strategy"]["tensor_parallel"] = 3;
  EXPECT_THAT(problems_in([&] { static_cast<void>(read(scenario)); }),
              testing::HasSubstr("tensor_parallel"));
}

TEST(PlannedScenario, ProblemsStandWhereTheyWereWritten) {
  nlohmann::json scenario = with_odd_batch();
  scenario["strategy"]["preset"] = "megatronn";
  const ScratchFolder scratch;
  PlanOptions options;
  options.leaders.path = scratch.write("scenario.json", scenario.dump());
  const std::string problems = problems_in([&] {
    Diagnostics ignored;
    static_cast<void>(read_planned(options, PlannedCluster::of_any_size, ignored));
  });
  EXPECT_THAT(problems, testing::HasSubstr("preset cannot be \"megatronn\"\n  --> " +
                                           options.leaders.path + ":1:"));
}

TEST(PlannedScenario, AnyDegreeIsReplacedButNotWhatIsNone) {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"]["data_parallel"] = 3;
  EXPECT_EQ(read(scenario).strategy->ranks(), 8);
  for (const nlohmann::json& wrong : std::vector<nlohmann::json>{"many", 1.5, -2, 0}) {
    scenario["strategy"]["data_parallel"] = wrong;
    EXPECT_THAT(problems_in([&] { static_cast<void>(read(scenario)); }),
                testing::HasSubstr("/strategy/data_parallel"))
        << wrong;
  }
}

}  // namespace
}  // namespace headway
