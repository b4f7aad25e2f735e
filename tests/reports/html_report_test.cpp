#include <gmock/gmock.h>

#include "reports/answers/answers.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string html_report(const Prediction& prediction) {
  return answer_as(".html", prediction_answer(prediction));
}

TEST(HtmlReport, HasTheSectionsOfTheMarkdownReport) {
  const std::string page = html_report(sample_prediction());
  const std::string text = answer_as(".md", prediction_answer(sample_prediction()));
  std::size_t sections = 0;
  for (std::size_t at = text.find("\n## "); at != std::string::npos;
       at = text.find("\n## ", at + 1)) {
    const std::string heading = text.substr(at + 4, text.find('\n', at + 4) - at - 4);
    EXPECT_THAT(page, HasSubstr("<h2>" + heading + "</h2>"));
    ++sections;
  }
  EXPECT_EQ(sections, 7U);
}

TEST(HtmlReport, NamesAreNoMarkup) {
  Prediction p = sample_prediction();
  p.question.model = "<script>alert(1)</script>";
  p.question.cluster = "\"><img src=x onerror=alert(1)>";
  p.busiest_links[0].from = "</script><script>alert(2)</script>";
  p.critical_path[4].where = "<b>stage</b>";
  p.activity = {.kinds = {"<i>forward</i>"}, .rows = {{"<u>stage 0</u>", {{0, 0_s, 1_s}}}}};
  (*p.question.scenario)["name"] = "</code></pre><script>alert(3)</script>";
  p.warnings = {"<h1>"};
  const std::string page = html_report(p);
  for (const char* markup : {"<script>alert", "<img", "<b>", "<i>", "<u>", "<h1></p>"}) {
    EXPECT_THAT(page, Not(HasSubstr(markup))) << markup;
  }
  EXPECT_THAT(page, HasSubstr("<title>&lt;script&gt;alert(1)&lt;/script&gt; on 128 x HGX H200"));
}

/// 24.6 % of 100 units, and the fullest cable; NICs below, the switches above them.
TEST(HtmlReport, TheFabricIsDrawnByTiers) {
  Prediction p = sample_prediction();
  p.fabric = {.tiers = {{"NIC ports", 16}, {"<i>leaf</i> switches", 2}},
              .cables = {{.lower = 0,
                          .upper = 1,
                          .cables = 16,
                          .up = {5_GB, 800_GBps, 0.246, 0.5},
                          .down = {4_GB, 800_GBps, 0.2, 1.0}}}};
  const std::string page = html_report(p);
  EXPECT_THAT(page, Not(HasSubstr("<i>leaf")));
  const std::size_t leaves = page.find("<div class=\"fabric-tier\">2 &lt;i&gt;leaf");
  const std::size_t nics = page.find("<div class=\"fabric-tier\">16 NIC ports");
  ASSERT_NE(leaves, std::string::npos);
  ASSERT_NE(nics, std::string::npos);
  EXPECT_LT(leaves, nics);
  EXPECT_THAT(page, HasSubstr("<span>\u2191 24.6 %</span>"));
  EXPECT_THAT(page, HasSubstr("<rect class=\"series-7\" width=\"24.60\" height=\"10\"/>"));
  EXPECT_THAT(page, HasSubstr("<rect class=\"critical\" x=\"50.00\""));
  EXPECT_THAT(page, HasSubstr("<rect class=\"critical\" x=\"99.40\""));  // still inside
  EXPECT_THAT(page, HasSubstr("<small>16 cables</small>"));
}

TEST(HtmlReport, ARowOfTheIterationHasItsBarsAndItsCriticalPath) {
  Prediction p = sample_prediction();
  // Of 6.94 s in 10,000 units: 0 .. 0.2 s are 288 units, 0.65 .. 6.94 s from 937 on 9063.
  p.activity = {.kinds = {"forward", "waits for a message"},
                .rows = {{"stage 0, replica 3", {{0, 0_s, 0.2_s}, {1, 0.2_s, 6.94_s}}},
                         {"stage 7, replica 3", {{0, 0.65_s, 6.94_s}}}}};
  const std::string page = html_report(p);
  EXPECT_THAT(page, HasSubstr("<path class=\"series-1\" d=\"M0 0h288v18h-288z"));
  EXPECT_THAT(page, HasSubstr("<path class=\"quiet\" d=\"M288 0h9712v18h-9712z\"/>"));
  EXPECT_THAT(page, HasSubstr("M937 46h9063v3h-9063z\"/>"));
}

}  // namespace
}  // namespace headway
