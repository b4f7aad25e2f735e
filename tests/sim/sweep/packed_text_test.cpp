#include "sim/sweep/packed_text.h"

#include <gtest/gtest.h>

#include <random>

namespace headway {
namespace {

/// Letters that nothing can pack: 6 bits each.
std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) text += static_cast<char>('0' + random() % 64);
  return text;
}

TEST(PackedText, IsTheTextAgain) {
  const std::string like = noise(50'000, 1);
  for (const std::size_t size : {0u, 1u, 1000u, 16'384u, 16'385u, 100'000u}) {
    for (const std::string& other : {std::string(), std::string("a"), like}) {
      const std::string text = noise(size, 2) + like.substr(0, size);
      EXPECT_EQ(unpacked(packed(text, other), other), text) << size;
    }
  }
  EXPECT_EQ(packed("", like), "");
}

TEST(PackedText, OneLikeTheOtherTakesNextToNothingHoweverLong) {
  // Deflate alone looks back 32 KiB. A match of it is of 258 letters at most and takes some three
  // bytes: one part in 86, and something for the beginning of each block.
  const std::string like = noise(200'000, 1);
  std::string text = like;
  text.insert(100'000, "and something more");
  EXPECT_LT(packed(text, like).size(), 200'000u / 60);
  EXPECT_GT(packed(text, "").size(), 200'000u / 8 * 6);
}

TEST(PackedText, DamageIsFound) {
  const std::string like = noise(20'000, 1);
  const std::string text = noise(20'000, 2);
  const std::string bytes = packed(text, like);
  EXPECT_EQ(unpacked(bytes, noise(20'000, 3)), std::nullopt);
  EXPECT_EQ(unpacked(bytes.substr(0, bytes.size() - 1), like), std::nullopt);
  EXPECT_EQ(unpacked("no such stream", like), std::nullopt);
  std::string changed = bytes;
  changed[bytes.size() / 3] ^= 1;
  EXPECT_EQ(unpacked(changed, like), std::nullopt);
}

}  // namespace
}  // namespace headway
