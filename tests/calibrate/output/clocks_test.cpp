#include "calibrate/output/clocks.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

MeasuredPoint at_clock(double clock_hz, std::set<std::string> throttled_by = {}) {
  MeasuredPoint point;
  point.state = {clock_hz, std::move(throttled_by)};
  return point;
}

TEST(ClocksText, TellsTheMedianTheLowestAndWhatHeldThemDown) {
  EXPECT_EQ(clocks_text({at_clock(1.8e9), at_clock(1.75e9), at_clock(1.5e9, {"power cap"})}),
            "1750 MHz in the median, from 1500; 1 of 3 points below 90 % of it; throttled by power "
            "cap (1 point)");
}

TEST(ClocksText, IsEmptyWhereNobodyWatched) { EXPECT_EQ(clocks_text({at_clock(0.0)}), ""); }

}  // namespace
}  // namespace headway
