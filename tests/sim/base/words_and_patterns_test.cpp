#include <gmock/gmock.h>

#include <array>
#include <set>
#include <stdexcept>

#include "sim/base/join_words.h"
#include "sim/base/pattern.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::Optional;

TEST(JoinWords, PutsTheSeparatorBetweenAnyTwo) {
  EXPECT_EQ(join_words(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join_words(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join_words(std::vector<std::string>{"", "b", ""}, "; "), "; b; ");
  EXPECT_EQ(join_words(std::array<std::string_view, 2>{"x", "y"}, " or "), "x or y");
  EXPECT_EQ(join_words(std::set<int>{3, -1}, " x "), "-1 x 3");
}

TEST(Pattern, FindsTheFirstMatchWithItsGroups) {
  const Pattern pattern("([0-9]+)(k)?");
  EXPECT_EQ(pattern.group_count(), 2U);
  EXPECT_THAT(pattern.first_in("a 12k 3"), Optional(ElementsAre("12k", "12", "k")));
  EXPECT_THAT(pattern.first_in("a 3"), Optional(ElementsAre("3", "3", "")));
  EXPECT_EQ(pattern.first_in("none"), std::nullopt);
}

TEST(Pattern, FindsAllThatDoNotOverlap) {
  EXPECT_THAT(Pattern("a.a").all_in("abacada"),
              ElementsAre(ElementsAre("aba"), ElementsAre("ada")));
  EXPECT_TRUE(Pattern("x").all_in("").empty());
}

TEST(Pattern, TellsSmallLettersFromCapitalsUnlessToldNotTo) {
  EXPECT_EQ(Pattern("gpu").first_in("GPU"), std::nullopt);
  EXPECT_NE(Pattern("gpu", Pattern::Letters::small_or_capital).first_in("GPU"), std::nullopt);
}

TEST(Pattern, RefusesWhatIsNone) { EXPECT_THROW(Pattern("(a"), std::invalid_argument); }

// Tried one by one there are 2^200 ways to share out the letters.
TEST(Pattern, OfManyWaysToMatchTakesNoLonger) {
  EXPECT_EQ(Pattern("(a+)+!").first_in(std::string(200, 'a')), std::nullopt);
  EXPECT_THROW(Pattern("(a+)\\1"), std::invalid_argument);
}

}  // namespace
}  // namespace headway
