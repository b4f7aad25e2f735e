#include "sim/predict/collective/byte_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using testing::ElementsAre;

std::string problem_with(const char* text) {
  try {
    static_cast<void>(byte_sizes(text));
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "none";
}

TEST(ByteSizes, OneOrAList) {
  EXPECT_THAT(byte_sizes("4 MiB"), ElementsAre(4_MiB));
  EXPECT_THAT(byte_sizes("1KB,2KiB"), ElementsAre(1_KB, 2_KiB));
}

TEST(ByteSizes, ARangeDoublesAndEndsAtItsEnd) {
  EXPECT_THAT(byte_sizes("1KiB..4KiB"), ElementsAre(1_KiB, 2_KiB, 4_KiB));
  EXPECT_THAT(byte_sizes("1KiB..5KiB"), ElementsAre(1_KiB, 2_KiB, 4_KiB));
  EXPECT_THAT(byte_sizes("1KiB..64KiB*8,1MiB"), ElementsAre(1_KiB, 8_KiB, 64_KiB, 1_MiB));
}

TEST(ByteSizes, AnythingElseIsRefused) {
  EXPECT_EQ(problem_with("4"), "--bytes 4: a size needs a unit");
  EXPECT_EQ(problem_with("4MiB..1MiB"), "--bytes 4MiB..1MiB: the range is empty");
  EXPECT_EQ(problem_with("1MiB..4MiB*1"),
            "--bytes 1MiB..4MiB*1: the factor is a whole number from 2 on");
  EXPECT_EQ(problem_with("0 B"), "--bytes 0 B: a message has at least one byte, and whole ones");
  EXPECT_EQ(problem_with("1.5 B"),
            "--bytes 1.5 B: a message has at least one byte, and whole ones");
}

}  // namespace
}  // namespace headway
