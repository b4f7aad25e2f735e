#include "reports/document/text_document.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace headway
