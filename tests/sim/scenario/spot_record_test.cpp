#include "sim/scenario/recovery/spot_record.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/scenario/scenario.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using testing::HasSubstr;

nlohmann::json on_spot(const nlohmann::json& availability) {
  nlohmann::json text = small_scenario(4);
  text["reliability"] = {{"duration", "1 d"},  {"detection", "1 min"},
                         {"restart", "4 min"}, {"availability", availability},
                         {"spot_nodes", 2},    {"checkpoint", {{"storage_bandwidth", "10 GB/s"}}}};
  return text;
}

Scenario with_record(const std::string& csv) {
  const ScratchFolder scratch;
  scratch.write("trace.csv", csv);
  Diagnostics diagnostics;
  return read_scenario(scratch.write("scenario.json", on_spot("trace.csv").dump(2)), {},
                       diagnostics);
}

TEST(SpotRecord, TheLastLineOfATimeCounts) {
  // Both ends of every step, as a drawing has them; Windows' ends of lines, a comment.
  const Scenario scenario =
      with_record("# recorded\n0,0\r\n60.5,0\n60.5,4\n120, 4\n120,1\n300,1\n");
  const SpotNodes& spot = scenario.reliability.value().spot.value();
  ASSERT_EQ(spot.record.steps.size(), 4U);
  EXPECT_EQ(spot.record.steps[1].time, 60.5_s);
  EXPECT_EQ(spot.record.steps[1].nodes, 4);
  EXPECT_EQ(spot.record.steps[2].nodes, 1);
  EXPECT_EQ(spot.record.length(), 300_s);
  EXPECT_EQ(spot.nodes, 2);
}

TEST(SpotRecord, IsResolvedInPlaceAndReadFromThere) {
  const Scenario scenario = with_record("0,2\n60.5,1\n300,1\n");
  const nlohmann::json& resolved = scenario.resolved->at("reliability").at("availability");
  EXPECT_EQ(resolved, nlohmann::json::parse(R"([["0 s", 2], ["60.5 s", 1], ["5 min", 1]])"));
  const Scenario again = scenario_of(on_spot(resolved));
  EXPECT_EQ(again.reliability->spot->record.steps[1].time, 60.5_s);
}

TEST(SpotRecord, WhatABrokenFirstLineBeginsAtIsNotGuessed) {
  const std::string problems =
      problems_in([] { static_cast<void>(with_record("time,nodes\n60,4\n120,1\n")); });
  EXPECT_THAT(problems, HasSubstr("this is no time"));
  EXPECT_THAT(problems, testing::Not(HasSubstr("a record begins at time 0")));
}

TEST(SpotRecord, EveryBrokenLineIsNamedWithItsColumn) {
  const std::string problems = problems_in([] {
    static_cast<void>(
        with_record("5,1\n0,2\n10;3\nten,3\n20,-1\n20,1.5\n15,\n30,2,9\n25,1\n1e13,1\n30,2\n"));
  });
  EXPECT_THAT(problems, HasSubstr("a record begins at time 0"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:1:1"));
  EXPECT_THAT(problems, HasSubstr("a comma stands between time and nodes"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:3:3"));
  EXPECT_THAT(problems, HasSubstr("this is no time"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:4:1"));
  EXPECT_THAT(problems, HasSubstr("nodes are counted, from 0 to 1000000"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:5:4"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:6:4"));
  EXPECT_THAT(problems, HasSubstr("this is no number of nodes"));
  EXPECT_THAT(problems, HasSubstr("nothing stands behind the number of nodes"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:8:5"));
  EXPECT_THAT(problems, HasSubstr("a time lies between 0 and 1e12 seconds"));
  EXPECT_THAT(problems, HasSubstr("write a time in seconds and a number of nodes: \"21529,4\""));
}

TEST(SpotRecord, TimesAscend) {
  const std::string problems =
      problems_in([] { static_cast<void>(with_record("0,2\n60,1\n50,2\n")); });
  EXPECT_THAT(problems, HasSubstr("times of a record ascend"));
  EXPECT_THAT(problems, HasSubstr("help: write a time in seconds and a number of nodes"));
}

TEST(SpotRecord, ARecordOfOneStepHasNoEnd) {
  EXPECT_THAT(problems_in([] { static_cast<void>(with_record("0,2\n")); }),
              HasSubstr("a record of availability has two steps or more"));
  EXPECT_THAT(problems_in([] { static_cast<void>(with_record("")); }), HasSubstr("0 here"));
}

TEST(SpotRecord, AMissingFileIsReportedWhereItIsNamed) {
  EXPECT_THAT(problems_in([] { static_cast<void>(scenario_of(on_spot("none.csv"))); }),
              HasSubstr("cannot find \"none.csv\""));
}

TEST(SpotRecord, AJobThatNeverHasItsNodesIsRefused) {
  EXPECT_THAT(problems_in([] { static_cast<void>(with_record("0,1\n60,0\n90,1\n")); }),
              HasSubstr("the job never has the nodes that it needs"));
}

TEST(SpotRecord, WithoutOneNothingIsSaidOfSpotNodes) {
  nlohmann::json text = on_spot("trace.csv");
  text["reliability"].erase("availability");
  EXPECT_THAT(problems_in([&] { static_cast<void>(scenario_of(text)); }),
              HasSubstr("nothing is recorded of when spot nodes are there"));
}

nlohmann::json recovering(const nlohmann::json& recovery) {
  nlohmann::json text = on_spot(nlohmann::json::parse(R"([["0 s", 2], ["1 h", 2]])"));
  text["reliability"]["recovery"] = recovery;
  return text;
}

TEST(Recoveries, InPlaceNeedWhatTheyTake) {
  const std::string problems = problems_in([] {
    static_cast<void>(scenario_of(recovering({{"method", "drop_out"}})));
  });
  EXPECT_THAT(problems, HasSubstr("reconfigure"));
  EXPECT_THAT(problems, HasSubstr("state_bandwidth"));
  EXPECT_THAT(problems_in([] {
                static_cast<void>(scenario_of(recovering({{"reconfigure", "1 s"}})));
              }),
              HasSubstr("only a job that goes on in place has this"));
}

TEST(Recoveries, OneCopyOfTheStateHasNobodyToGoOnWith) {
  nlohmann::json text =
      recovering({{"method", "drop_out"}, {"reconfigure", "1 s"}, {"state_bandwidth", "10 GB/s"}});
  // Two replicas of four accelerators each, on two nodes of two.
  const Scenario scenario = scenario_of(text);
  EXPECT_EQ(scenario.reliability->replicas, 2);
  EXPECT_EQ(scenario.reliability->nodes_per_replica, 2.0);
  text["strategy"]["zero_stage"] = 1;
  EXPECT_THAT(problems_in([&] { static_cast<void>(scenario_of(text)); }),
              HasSubstr("there is one copy of the state, and nobody to go on with"));
}

}  // namespace
}  // namespace headway
