// What the page says of winners is what the points say.
#include "reports/answers/winners_section.h"

#include <gmock/gmock.h>

#include "reports/document/markdown_document.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Computing for 1 s, and waiting for one thing.
Prediction prediction(double tokens_per_second, Cause waits_for, double seconds) {
  Prediction made = sample_prediction();
  made.tokens_per_second = tokens_per_second;
  made.breakdown = {};
  made.breakdown[Cause::compute] = Seconds(1.0);
  made.breakdown[waits_for] = Seconds(seconds);
  return made;
}

StudyPoint point(const char* network, const char* way, std::optional<Prediction> made) {
  const char* const reason = made ? "" : "does not fit";
  return {{{"/choose/network", network}, {"/choose/way", way}}, std::move(made), reason};
}

std::string markdown(std::vector<StudyPoint> points) {
  Document document;
  document.sections.push_back(winners_section({.name = "ways", .points = std::move(points)}));
  return markdown_of(document);
}

/// On the slow network the second of the two that run is the best, 300 / 200 = 1.5 times as fast;
/// on the fast one the first, 600 / 480 = 1.25 times. 1 s of 4 s is 25 %, 1 of 1.25 s 20 %.
TEST(Winners, FollowFromThePoints) {
  const std::string text =
      markdown({point("slow", "sharded", std::nullopt),
                point("slow", "often", prediction(200e3, Cause::data_parallel_exposed, 3.0)),
                point("slow", "seldom", prediction(300e3, Cause::optimizer, 0.25)),
                point("fast", "often", prediction(600e3, Cause::data_parallel_exposed, 1.0)),
                point("fast", "seldom", prediction(480e3, Cause::optimizer, 0.25))});
  EXPECT_THAT(text, HasSubstr("| network | best | its | largest part beside computing | behind it "
                              "| times | largest part beside computing |"));
  EXPECT_THAT(text, HasSubstr("\n| slow | seldom | 300 k tokens/s | 20.0 % optimizer | often | "
                              "1.50 | 75.0 % exposed data-parallel |"));
  EXPECT_THAT(text, HasSubstr("\n| fast | often | 600 k tokens/s | 50.0 % exposed data-parallel | "
                              "seldom | 1.25 | 20.0 % optimizer |"));
  EXPECT_THAT(text, Not(HasSubstr("sharded")));
}

TEST(Winners, AreNoneWhereNoneCanRun) {
  const std::string text =
      markdown({point("slow", "often", std::nullopt),
                point("fast", "often", prediction(600e3, Cause::optimizer, 1.0))});
  EXPECT_THAT(text, HasSubstr("\n| slow | none can run |"));
  EXPECT_THAT(text, HasSubstr("\n| fast | often | 600 k tokens/s | 50.0 % optimizer |"));
}

/// Of several models the fastest job says nothing of the others.
TEST(Winners, AreCountedWhereModelsDiffer) {
  std::vector<StudyPoint> points = {
      point("slow", "often", prediction(200e3, Cause::optimizer, 1.0)),
      point("slow", "seldom", prediction(300e3, Cause::optimizer, 1.0)),
      point("fast", "often", prediction(600e3, Cause::optimizer, 1.0)),
      point("fast", "seldom", prediction(480e3, Cause::optimizer, 1.0)),
      point("none", "often", std::nullopt),
  };
  EXPECT_EQ(winners_sentence({.name = "ways", .points = points}), "");
  const std::vector<StudyPoint> of_the_other = points;
  points.insert(points.end(), of_the_other.begin(), of_the_other.end());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_small = i < points.size() / 2;
    points[i].axes.insert(points[i].axes.begin(), {"/choose/model", is_small ? "small" : "large"});
    if (points[i].prediction) points[i].prediction->question.model = is_small ? "small" : "large";
  }
  EXPECT_EQ(
      winners_sentence({.name = "ways", .points = points}),
      "By throughput, seldom is best in 2 of 6 combinations of model and network, often in 2.");
}

TEST(Winners, AreAskedForOfAlternatives) {
  StudyPoint plain = point("slow", "often", prediction(200e3, Cause::optimizer, 1.0));
  plain.axes = {{"gpus", "8"}, {"stages", "2"}};
  EXPECT_TRUE(winners_section({.name = "ways", .points = {plain}}).blocks.empty());
  EXPECT_TRUE(winners_section({}).blocks.empty());
}

}  // namespace
}  // namespace headway
