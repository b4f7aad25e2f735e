#include "sim/base/fingerprint.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// Test vectors of FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ (test_fnv.c).
TEST(Fingerprint, IsFnv1a) {
  EXPECT_EQ(fingerprint(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fingerprint("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fingerprint("foobar"), 0x85944171f73967e8ULL);
}

TEST(Fingerprint, TextHasSixteenDigits) {
  EXPECT_EQ(fingerprint_text("foobar"), "85944171f73967e8");
  EXPECT_EQ(fingerprint_text("").size(), 16U);
}

TEST(Fingerprint, ASetKnowsTheTextsThatItWasMadeOf) {
  const FingerprintSet set({fingerprint("b"), fingerprint("a"), fingerprint("")});
  EXPECT_TRUE(set.contains("a"));
  EXPECT_TRUE(set.contains(""));
  EXPECT_FALSE(set.contains("c"));
  EXPECT_FALSE(FingerprintSet().contains(""));
}

}  // namespace
}  // namespace headway
