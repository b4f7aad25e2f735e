#include "sim/scenario/recovery/failure_count.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(FailureCount, WhatIsSureToBreakTooOftenIsTold) {
  // 1,000 units that break every 1,000 s are 1,000 failures more each 1,000 s, but for the first:
  // 50 million of them in 10 histories take 1,000 s + 5e6 s.
  const std::vector<FailureCause> causes = {{.lifetime = {.mean = Seconds(1e9)}, .units = 1},
                                            {.lifetime = {.mean = Seconds(1000.0)}, .units = 1000}};
  EXPECT_FALSE(too_many_failures(causes, Seconds(1000.0 + 5e6), 10));
  const auto problem = too_many_failures(causes, Seconds(1000.0 + 5.001e6), 10);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->pointer, "/reliability/failures/1/mean_time");
  EXPECT_EQ(problem->label, "one of 1,000 breaks every 1 s");
}

}  // namespace
}  // namespace headway
