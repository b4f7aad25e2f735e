#include "sim/scenario/read_jobs.h"

#include <gmock/gmock.h>

#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "sim/scenario/resolved_scenario.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/shared_leaf.h"

namespace headway {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Jobs = std::initializer_list<nlohmann::json>;

Scenario read(Jobs jobs) {
  nlohmann::json text = shared_leaf_scenario();
  text["jobs"] = std::vector<nlohmann::json>(jobs);
  return scenario_of(text);
}

std::string problems_of_jobs(Jobs jobs) {
  return problems_in([&] { static_cast<void>(read(jobs)); });
}

TEST(ReadJobs, SizesFollowEachOther) {
  nlohmann::json guest = neighbour();
  guest["sizes"] = {{{"at", "1 h"}, {"nodes", 3}},
                    {{"at", "2 h"}, {"nodes", 1}},
                    {{"at", "3 h"}, {"nodes", 0}},
                    {{"at", "5 h"}, {"nodes", 2}}};
  const Scenario scenario = read({guest});
  EXPECT_EQ(scenario.strategy->data_parallel, 6);  // three of the six nodes
  ASSERT_EQ(scenario.jobs.size(), 1U);
  const std::vector<NeighbourJob::Size>& sizes = scenario.jobs[0].sizes;
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[0].to, 7200.0);
  EXPECT_EQ(sizes[1].to, 10800.0);
  EXPECT_EQ(sizes[2].from, 18000.0);
  EXPECT_TRUE(std::isinf(sizes[2].to));
  EXPECT_EQ(sizes[0].strategy->data_parallel, 6);
  EXPECT_EQ(sizes[1].strategy->data_parallel, 2);
  EXPECT_EQ(sizes[2].strategy->data_parallel, 4);
  EXPECT_EQ(scenario.jobs[0].model.name, "small");  // the scenario's own
}

TEST(ReadJobs, AStrategyThatIsWrongAtEverySizeIsToldOnce) {
  nlohmann::json guest = neighbour();
  guest["sizes"] = {{{"at", "1 h"}, {"nodes", 3}}, {{"at", "2 h"}, {"nodes", 1}}};
  guest["strategy"]["sequence_length"] = 0;
  const std::string found = problems_of_jobs({guest});
  EXPECT_THAT(found, HasSubstr("sequence_length must be"));
  EXPECT_EQ(found.find("error:"), found.rfind("error:")) << found;
}

TEST(ReadJobs, WhatWasResolvedReadsBackTheSame) {
  nlohmann::json guest = neighbour();
  guest["sizes"].push_back({{"at", "2 h"}, {"nodes", 1}});
  const Scenario scenario = read({guest});
  Diagnostics diagnostics;
  const Scenario again = read_resolved_scenario(scenario.resolved, "resolved", diagnostics);
  EXPECT_EQ(again.resolved, scenario.resolved);
  ASSERT_EQ(again.jobs.size(), 1U);
  EXPECT_EQ(again.jobs[0].sizes[1].strategy->data_parallel, 2);
}

TEST(ReadJobs, ANodeIsOneJobsAtATime) {
  nlohmann::json early = neighbour("early");
  early["sizes"] = {{{"at", "0 s"}, {"nodes", 3}}, {{"at", "1 h"}, {"nodes", 0}}};
  nlohmann::json late = neighbour("late");
  late["sizes"] = {{{"at", "1 h"}, {"nodes", 3}}};
  EXPECT_EQ(problems_of_jobs({early, late}), "none");
  late["sizes"][0]["at"] = "59 min";
  EXPECT_THAT(problems_of_jobs({early, late}), HasSubstr("a node of this job is one of \"early\""));
  nlohmann::json inside = neighbour();
  inside["first_node"] = 2;
  EXPECT_THAT(problems_of_jobs({inside}), HasSubstr("a node of this job is one of \"this job\""));
}

TEST(ReadJobs, ProblemsAreNamed) {
  EXPECT_THAT(problems_of_jobs({neighbour("this job")}),
              HasSubstr("two jobs are called \"this job\""));
  nlohmann::json guest = neighbour();
  guest["sizes"] = {{{"at", "2 h"}, {"nodes", 3}}, {{"at", "1 h"}, {"nodes", 1}}};
  EXPECT_THAT(problems_of_jobs({guest}), HasSubstr("sizes follow each other in time"));
  guest = neighbour();
  guest.erase("sizes");
  EXPECT_THAT(problems_of_jobs({guest}),
              HasSubstr("nothing says when the job is there, and on how many nodes"));
  guest["sizes"] = nlohmann::json::array();
  EXPECT_THAT(problems_of_jobs({guest}),
              HasSubstr("nothing says when the job is there, and on how many nodes"));
  guest["sizes"] = {
      {{"at", "1 h"}, {"nodes", 3}}, {{"at", "5 h"}, {"nodes", 0}}, {{"at", "3 h"}, {"nodes", 3}}};
  EXPECT_THAT(problems_of_jobs({guest}), HasSubstr("/jobs/0/sizes/2/at"));
  guest = neighbour();
  guest.erase("strategy");
  guest["sizes"].push_back({{"at", "2 h"}, {"nods", 1}});
  EXPECT_THAT(problems_of_jobs({guest}),
              AllOf(HasSubstr("missing field \"strategy\""), HasSubstr("did you mean \"nodes\"?")));
  guest = neighbour();
  guest["sizes"][0]["nodes"] = 4;
  EXPECT_THAT(problems_of_jobs({guest}), HasSubstr("nodes must be between 0 and 3"));
  guest = neighbour();
  guest["strategy"]["tensor_parallel"] = 4;
  EXPECT_THAT(problems_of_jobs({guest}), HasSubstr("/jobs/0/strategy"));
}

}  // namespace
}  // namespace headway
