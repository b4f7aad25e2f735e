#include "reports/document/text_document.h"

#include <gmock/gmock.h>

#include "reports/document/html_document.h"
#include "reports/document/markdown_document.h"
#include "tests/reports/document/sample_document.h"

namespace headway {
namespace {

TEST(TextDocument, HasEveryBlockThatIsNotFolded) {
  EXPECT_EQ(text_of(sample_document()), R"(A *title*
a lead

First

5 < 6

warning: careful

  - x
  - y_

  a|b           c<d

Second

  number  median  5th to 95th percentile
  time    6.9 s   6 .. 7 s

  name   n
  a*b   -1

  name   n
  a*b   -1

  tp by pp      1   2
  8         5.0 s  no

  a < b
  c
)");
}

TEST(TextDocument, LongTextIsBrokenAtBlanks) {
  const std::string word(60, 'x');
  const Document document{.title = "t", .sections = {{"h", {BulletList{{word + " " + word}}}}}};
  EXPECT_EQ(text_of(document), "t\n\nh\n\n  - " + word + "\n    " + word + "\n");
}

/// A page opens with the answer, a terminal ends with it.
Document short_answer() {
  TextTable table({{"n", TextTable::Align::right}});
  table.add_row({"1"});
  return {.title = "title",
          .lead = "first\nsecond",
          .sections = {{"Answer", {Paragraph{"on pages"}}, Shown::on_pages},
                       {"Facts", {FactList{{{"diameter", "3 links"}, {"a", "b < c"}}}, table}},
                       {"", {Paragraph{"the\nend"}}, Shown::on_terminals}}};
}

TEST(TextDocument, ABriefOneHasNoHeadingsAndBreaksNoLine) {
  EXPECT_EQ(brief_text_of(short_answer()), R"(title
first
second

  diameter      3 links
  a             b < c

  n
  1

the
end
)");
  const std::string line(150, 'x');
  EXPECT_EQ(brief_text_of({.title = line + " " + line}), line + " " + line + "\n");
}

TEST(TextDocument, PagesHaveTheSectionsMeantForThem) {
  EXPECT_EQ(markdown_of(short_answer()),
            "# title\n\nfirst\\\nsecond\n\n## Answer\n\non pages\n\n## Facts\n\n"
            "- diameter: 3 links\n- a: b \\< c\n\n| n |\n| ---: |\n| 1 |\n");
  const std::string page = html_of(short_answer());
  EXPECT_THAT(page, testing::HasSubstr("<p class=\"lead\">first<br>\nsecond</p>"));
  EXPECT_THAT(page, testing::HasSubstr("<th scope=\"row\">a</th><td>b &lt; c</td>"));
  EXPECT_THAT(page, testing::Not(testing::HasSubstr("<p>the")));
}

}  // namespace
}  // namespace headway
