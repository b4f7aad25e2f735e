#include "sim/programs/flows/numbering.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

namespace headway {
namespace {

TEST(Numbering, KeysAreNumberedInTheOrderInWhichTheyAppear) {
  Numbering numbers(3);
  EXPECT_EQ(numbers.size(), 0U);
  EXPECT_EQ(numbers.number_of(7), 0U);
  EXPECT_EQ(numbers.number_of(-1), 1U);
  EXPECT_EQ(numbers.number_of(7), 0U);
  EXPECT_EQ(numbers.number_of(std::numeric_limits<int>::min()), 2U);
  EXPECT_EQ(numbers.size(), 3U);
}

TEST(Numbering, AsManyAsWereAnnouncedHaveRoom) {
  std::mt19937 random(1);  // NOLINT: the same keys each time
  constexpr std::size_t kKeys = 1000;
  Numbering numbers(kKeys);
  std::map<int, std::size_t> known;
  while (known.size() < kKeys) {
    const int key = static_cast<int>(random() % 5000) * 4096;
    EXPECT_EQ(numbers.number_of(key), known.emplace(key, known.size()).first->second);
  }
  EXPECT_EQ(numbers.size(), kKeys);
}

}  // namespace
}  // namespace headway
