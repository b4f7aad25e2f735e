#include "reports/document/markdown_text.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(MarkdownText, MarksAreEscaped) {
  EXPECT_EQ(markdown_text("a *b* `c` [d] <e> \\f"), "a \\*b\\* \\`c\\` \\[d\\] \\<e\\> \\\\f");
  EXPECT_EQ(markdown_text("# a - b"), "\\# a - b");
  EXPECT_EQ(markdown_text("_a_ llama3_405b"), "\\_a\\_ llama3_405b");
}

TEST(MarkdownText, IsOneLine) { EXPECT_EQ(markdown_text("a\nb\x1b"), "a b\uFFFD"); }

TEST(MarkdownSentence, CodeStandsBetweenBackticks) {
  EXPECT_EQ(markdown_sentence("use `headway -h | a_b_` or *c*"),
            "use `headway -h | a_b_` or \\*c\\*");
  EXPECT_EQ(markdown_sentence("- `a` alone`"), "\\- `a` alone\\`");
  EXPECT_EQ(markdown_sentence_cell("- ``"), "- \\`\\`");
}

TEST(MarkdownCode, FenceIsLongerThanAnyInside) {
  EXPECT_EQ(markdown_code("a", "sh"), "```sh\na\n```\n");
  EXPECT_EQ(markdown_code("a\n```\nb\n", ""), "````\na\n```\nb\n````\n");
}

}  // namespace
}  // namespace headway
