#include "reports/document/chart.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(Chart, NumbersHaveSixDigitsAndHolesAreNull) {
  const Chart chart{.x = {1.0, 2.0},
                    .series = {{.name = "a",
                                .values = {1.0 / 3.0, std::numeric_limits<double>::quiet_NaN()},
                                .style = Chart::Style::points,
                                .colour = 2}}};
  const nlohmann::json spec = nlohmann::json::parse(chart_json(chart));
  EXPECT_EQ(spec["kind"], "lines");
  EXPECT_EQ(spec["x"], nlohmann::json({1.0, 2.0}));
  EXPECT_EQ(
      spec["series"][0],
      nlohmann::json(
          {{"name", "a"}, {"values", {0.333333, nullptr}}, {"style", "points"}, {"colour", 2}}));
}

TEST(Chart, NoNameEndsAScript) {
  const Chart chart{.kind = Chart::Kind::bars, .labels = {"</script><!--"}};
  EXPECT_THAT(chart_json(chart), testing::Not(testing::HasSubstr("<")));
  EXPECT_EQ(nlohmann::json::parse(chart_json(chart))["labels"][0], "</script><!--");
}

TEST(Chart, SeriesOfAnotherLengthIsABug) {
  const Chart chart{.x = {1.0}, .series = {{.name = "a", .values = {1.0, 2.0}}}};
  EXPECT_THROW((void)chart_json(chart), InternalError);
}

}  // namespace
}  // namespace headway
