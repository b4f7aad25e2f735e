#include "sim/sweep/axis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

using testing::ElementsAre;

std::vector<nlohmann::json> values_of(std::string_view text) {
  Diagnostics diagnostics;
  Axis axis = parse_axis(text, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << text;
  return axis.values;
}

std::string problem_of(const std::vector<std::string>& texts) {
  Diagnostics diagnostics;
  static_cast<void>(parse_axes(texts, diagnostics));
  return diagnostics.all().empty() ? "" : rendered(diagnostics.all(), "nothing was swept");
}

TEST(Axis, HasListsOfNumbersAndTexts) {
  EXPECT_THAT(values_of("gpus=8,64"), ElementsAre(8, 64));
  EXPECT_THAT(values_of("/strategy/recompute=none,full"), ElementsAre("none", "full"));
  EXPECT_THAT(values_of("/a=400 Gb/s,true,null,\"8\""),
              ElementsAre("400 Gb/s", true, nullptr, "8"));
  EXPECT_THAT(values_of("/a=x=y"), ElementsAre("x=y"));
}

TEST(Axis, RangesGoOnByAFactorOrAStep) {
  EXPECT_THAT(values_of("gpus=8..64*2"), ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(values_of("gpus=8..63*2"), ElementsAre(8, 16, 32));
  EXPECT_THAT(values_of("a=1..7+3"), ElementsAre(1, 4, 7));
  EXPECT_THAT(values_of("a=0..0+1"), ElementsAre(0));
  EXPECT_THAT(values_of("a=5,1..2+1,9"), ElementsAre(5, 1, 2, 9));
  // The next product would be 2^106.
  EXPECT_THAT(values_of("a=9007199254740992..9007199254740992*9007199254740992"),
              ElementsAre(std::int64_t{1} << 53));
}

TEST(Axis, ABracketedValueIsOneArray) {
  EXPECT_THAT(values_of("/a=[[1,2],[3]]"),
              ElementsAre(nlohmann::json::array({1, 2}), nlohmann::json::array({3})));
}

TEST(Axis, EveryProblemIsToldAtOnce) {
  EXPECT_EQ(problem_of({"gpus", "=1", "a=,,", "a=1..2", "b=4..2*2", "c=1..8*1", "d=[1", "e=1,1"}),
            R"(error: an axis has the form NAME=VALUES
  --> --axis gpus
  help: write --axis gpus=8,16,32, --axis gpus=8..1024*2 or --axis /strategy/micro_batch=1..8+1

error: an axis has the form NAME=VALUES
  --> --axis =1
  help: write --axis gpus=8,16,32, --axis gpus=8..1024*2 or --axis /strategy/micro_batch=1..8+1

error: a value of a is empty
  --> --axis a=,,
  help: write --axis gpus=8,16,32, --axis gpus=8..1024*2 or --axis /strategy/micro_batch=1..8+1

error: "1..2" is no range
  --> --axis a=1..2
  help: a range has whole numbers and says how it goes on: 8..64*2 is 8,16,32,64 and 8..14+2 is 8,10,12,14

error: two axes are called "a"
  --> --axis a=1..2
  help: give all its values to one of them

error: the range "4..2*2" ends before it starts
  --> --axis b=4..2*2
  help: write 2..4

error: the range "1..8*1" does not advance
  --> --axis c=1..8*1
  help: a factor is at least 2, from 1 or more on; a step is at least 1

error: the values in brackets are no JSON array with something in it
  --> --axis d=[1
  help: write --axis '/strategy/layers_per_stage=[[3,5],[4,4]]', or the values without brackets

error: 1 stands twice among the values of e
  --> --axis e=1,1
  help: name each value once

9 problems; nothing was swept.
)");
  EXPECT_EQ(problem_of({"a=0..999+1", "b=0..1000+1"}),
            "error: the axes span 1e+06 points\n"
            "  help: a sweep has at most 1000000; take fewer values, or several sweeps\n\n"
            "1 problem; nothing was swept.\n");
}

TEST(Axis, ValuesAreWhatFilesMayHoldToo) {
  EXPECT_EQ(problem_of({"gpus=\xff"}),
            "error: the text is not UTF-8\n  --> --axis gpus=\xEF\xBF\xBD\n\n"
            "1 problem; nothing was swept.\n");
  const std::string deep = std::string(201, '[') + std::string(201, ']');
  EXPECT_THAT(problem_of({"a=" + deep}), testing::HasSubstr("no JSON array with something in it"));
  // What is no JSON among values with commas between them is a text.
  EXPECT_EQ(values_of("a=1," + deep).at(1), deep);
}

TEST(Axis, PointsAreTheProductAndTheLastAxisChangesFastest) {
  const std::vector<Axis> axes = {{"a", {1, 2}}, {"b", {"x", "y", "z"}}};
  EXPECT_EQ(point_count(axes), 6);
  EXPECT_EQ(point_values(axes, 0).dump(), R"({"a":1,"b":"x"})");
  EXPECT_EQ(point_values(axes, 2).dump(), R"({"a":1,"b":"z"})");
  EXPECT_EQ(point_values(axes, 3).dump(), R"({"a":2,"b":"x"})");
  EXPECT_EQ(point_count({}), 1);
}

}  // namespace
}  // namespace headway
