#include "reports/document/html_document.h"

#include <gmock/gmock.h>

#include <regex>

#include "reports/document/assets.h"
#include "tests/reports/document/sample_document.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Without the texts that every page holds.
std::string body_of(const Document& document) {
  const std::string page = html_of(document);
  const std::size_t begin = page.find("<main>");
  return page.substr(begin, page.find("</main>") - begin);
}

TEST(HtmlDocument, HasEveryBlock) {
  const std::string body = body_of(sample_document());
  for (const char* block :
       {"<h1>A *title*</h1>", "<p class=\"lead\">a lead</p>", "<h2>First</h2>", "<p>5 &lt; 6</p>",
        "<p class=\"notice\">careful</p>", "<li>y_</li>",
        "<th scope=\"row\">a|b</th><td>c&lt;d</td>",
        "<dt>time</dt><dd><strong>6.9 s</strong><span>6 .. 7 s</span></dd>",
        "<td>a*b</td><td class=\"number\">-1</td>",
        "<td style=\"--shade:100%\">5.0 s</td><td class=\"impossible\">no<small>short by 2 "
        "GiB</small></td>",
        "<code>a &lt; b\nc\n</code>", "<summary>all of it</summary>",
        "<a download=\"all.json\" href=\"data:text/plain,%7B%7D\">"}) {
    EXPECT_THAT(body, HasSubstr(block));
  }
}

TEST(HtmlDocument, CodeInSentencesStandsBetweenBackticks) {
  Document document{.title = "a `b`"};
  document.sections = {{"c", {Paragraph{"try `headway <x>`, not `that"}}}};
  const std::string body = body_of(document);
  EXPECT_THAT(body, HasSubstr("<p>try <code>headway &lt;x&gt;</code>, not `that</p>"));
  EXPECT_THAT(body, HasSubstr("<h1>a `b`</h1>"));
}

TEST(HtmlDocument, AChartStandsAboveItsTable) {
  if (chart_library().empty()) GTEST_SKIP() << "this build has no Chart.js";
  const std::string body = body_of(sample_document());
  const std::size_t canvas = body.find(
      "<canvas id=\"chart-1\" tabindex=\"0\" role=\"img\" "
      "aria-label=\"a &quot;figure&quot;\">");
  const std::size_t data = body.find("data-chart=\"chart-1\">{");
  ASSERT_NE(canvas, std::string::npos);
  ASSERT_NE(data, std::string::npos);
  EXPECT_LT(data, body.find("<table>", canvas));
  EXPECT_THAT(html_of(sample_document()), HasSubstr("Released under the MIT License"));
}

TEST(HtmlDocument, WithoutChartsCarriesNoScript) {
  EXPECT_THAT(html_of({.title = "a"}), Not(HasSubstr("<script")));
}

TEST(HtmlDocument, LoadsNothing) {
  const std::string page = html_of(sample_document());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(<(link|iframe|img|object|embed)\b)")));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"((src|href)="(https?:)?//)")));
  EXPECT_FALSE(std::regex_search(page, std::regex(R"(@import|url\()")));
}

TEST(HtmlDocument, LongTablesOfFiguresAreFolded) {
  Document document = sample_document();
  Figure& figure = std::get<Figure>(document.sections[1].blocks[1]);
  for (int i = 0; i < 20; ++i) figure.table.add_row({"more", "0"});
  figure.picture = Drawing{"<svg></svg>"};
  EXPECT_THAT(body_of(document), HasSubstr("<summary>The 21 rows of this figure</summary>"));
}

}  // namespace
}  // namespace headway
