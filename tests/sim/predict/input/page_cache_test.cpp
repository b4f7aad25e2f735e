#include "sim/predict/input/page_cache.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

// A page waits d epochs for its next reading, d the sum of two even draws from [0, 1]; meanwhile
// (1 - h) d N pages are missed, each of which throws it out of c N places with 1 / (c N). So
// h = E[exp(-a d)] = ((1 - exp(-a)) / a)^2 with a = (1 - h) / c: for c = 0.35, h = 0.1392.
TEST(PageCache, ReadsMoreThanWhatDoesNotFit) {
  EXPECT_NEAR(read_share({.cached_share = 0.35}), 1.0 - 0.1392, 0.005);
}

TEST(PageCache, EndsAreExact) {
  EXPECT_EQ(read_share({.cached_share = 0.0}), 1.0);
  EXPECT_EQ(read_share({.cached_share = 1.0}), 0.0);
}

// Many jobs make a page's readings as good as independent, of which c find it in memory.
TEST(PageCache, ManyJobsReadWhatDoesNotFit) {
  const double eight = read_share({.cached_share = 0.35, .jobs = 8});
  EXPECT_LT(eight, read_share({.cached_share = 0.35}));
  EXPECT_NEAR(eight, 0.65, 0.04);
}

}  // namespace
}  // namespace headway
