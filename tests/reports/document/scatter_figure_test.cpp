#include "reports/document/scatter_figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/document/html_page.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

ScatterFigure figure() {
  return {.title = "a <figure>",
          .x_title = "x, s",
          .y_title = "y, s",
          .series = {{"dense", {{1.0, 10.0, "a & b"}}}, {"moe", {{100.0, 100.0, "c"}}}}};
}

TEST(ScatterFigure, PointsStandWhereTheirLogarithmsSay) {
  // Two decades, 1 to 100, over 520 units right of 70 and below 34: (1, 10) is at the left, half
  // way up; (100, 100) at the upper right corner.
  const std::string svg = svg_of(figure());
  EXPECT_THAT(svg, HasSubstr("series-1\" d=\"M70.0 294.0"));
  EXPECT_THAT(svg, HasSubstr("series-2\" d=\"M590.0 34.0"));
}

TEST(ScatterFigure, TheBandIsTenPercentEitherWay) {
  // log10(1.1) / 2 * 520 = 10.8 above and -log10(0.9) / 2 * 520 = 11.9 below the line.
  EXPECT_THAT(svg_of(figure()),
              HasSubstr("class=\"band\" d=\"M70.0 543.2L590.0 23.2V45.9L70.0 565.9Z\""));
}

TEST(ScatterFigure, NamesAreNoMarkup) {
  const std::string svg = svg_of(figure());
  EXPECT_THAT(svg, HasSubstr("aria-label=\"a &lt;figure&gt;\""));
  EXPECT_THAT(svg, HasSubstr("<title>a &amp; b</title>"));
}

TEST(ScatterFigure, WithoutPointsThereAreStillAxes) {
  const std::string svg = svg_of({.title = "t", .x_title = "x", .y_title = "y", .series = {}});
  EXPECT_THAT(svg, HasSubstr("class=\"equal\""));
}

TEST(HtmlPage, LoadsNothing) {
  const std::string page = html_page("a \"title\"", "<p>body</p>");
  EXPECT_THAT(page, HasSubstr("<title>a &quot;title&quot;</title>"));
  for (const char* loaded : {"://", "src=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(loaded)));
  }
}

}  // namespace
}  // namespace headway
