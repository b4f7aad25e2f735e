#include "sim/base/utf8.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(Utf8, CountsCharacters) {
  EXPECT_EQ(character_count("abc"), 3U);
  EXPECT_EQ(character_count("Zürich"), 6U);
  EXPECT_EQ(character_count("a\xF0\x9F\x98\x80z"), 3U);  // U+1F600
  EXPECT_EQ(character_count("\xFF\xFE"), 2U);            // stray bytes
}

TEST(Utf8, FindsWhatIsNotWellFormed) {
  EXPECT_EQ(first_invalid_utf8("Zürich"), std::string_view::npos);
  EXPECT_EQ(first_invalid_utf8("ab\xFF"), 2U);
  EXPECT_EQ(first_invalid_utf8("\xC0\xAF"), 0U);          // overlong
  EXPECT_EQ(first_invalid_utf8("a\xED\xA0\x80"), 1U);     // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(first_invalid_utf8("a\xE2\x82"), 1U);         // cut off
}

TEST(Utf8, PrintableTextCannotDriveATerminal) {
  EXPECT_EQ(printable("a\tb"), "a b");
  EXPECT_EQ(printable("\x1b[31m"), "\xEF\xBF\xBD[31m");
  EXPECT_EQ(printable("\xC2\x9B"), "\xEF\xBF\xBD");  // a C1 control
  EXPECT_EQ(printable("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(printable("a\u2028\u2029\u202E\u2066z"), "a\uFFFD\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(printable("\u2027\u202F\u2065\u206A"), "\u2027\u202F\u2065\u206A");  // beside them
}

TEST(Utf8, LongQuotesAreCut) {
  EXPECT_EQ(in_quotes("ab"), "\"ab\"");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

}  // namespace
}  // namespace headway
