#include "sim/costs/kernel_cost.h"

#include <gtest/gtest.h>

#include "sim/base/units.h"

namespace headway {
namespace {

TEST(HeadProducts, MultiplyWhileTheyMoveButNotWhollyAtOnce) {
  EXPECT_NEAR(head_product_time(3_us, 0_us).count(), 3e-6, 1e-18);
  EXPECT_NEAR(head_product_time(0_us, 4_us).count(), 4e-6, 1e-18);
  // 3^3 + 4^3 + 5^3 = 6^3.
  const Seconds three_and_four = head_product_time(3_us, 4_us);
  EXPECT_NEAR(head_product_time(three_and_four, 5_us).count(), 6e-6, 1e-18);
  EXPECT_GT(three_and_four, 4_us);
}

TEST(HeadProducts, TellWhatMultiplyingTookWhereItShows) {
  EXPECT_NEAR(multiplying_time(head_product_time(3_us, 4_us), 4_us)->count(), 3e-6, 1e-15);
  EXPECT_FALSE(multiplying_time(4_us, 4_us).has_value());
  EXPECT_FALSE(multiplying_time(3_us, 4_us).has_value());
}

}  // namespace
}  // namespace headway
