#include "sim/result/number_text.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(TimeScale, ThreeDigitsOfTheTypicalTime) {
  EXPECT_EQ(TimeScale(6.94_s).number(6.7_s), "6.70");
  EXPECT_EQ(TimeScale(94.25_s).with_unit(94.25_s), "94.2 s");
  EXPECT_EQ(TimeScale(345_s).number(345.4_s), "345");
  EXPECT_EQ(TimeScale(12.34_ms).with_unit(12.34_ms), "12.3 ms");
  EXPECT_EQ(TimeScale(56.7_us).with_unit(56.7_us), "56.7 us");
}

TEST(TimeScale, RoundsUpToTheLargerUnit) {
  EXPECT_EQ(TimeScale(999.6_ms).with_unit(999.6_ms), "1.00 s");
  EXPECT_EQ(TimeScale(999.4_ms).with_unit(999.4_ms), "999 ms");
  EXPECT_EQ(TimeScale(999.6_us).with_unit(999.6_us), "1.00 ms");
}

TEST(TimeScale, LongTimesAreHoursAndDays) {
  EXPECT_EQ(TimeScale(9999_s).with_unit(9999_s), "9999 s");
  EXPECT_EQ(TimeScale(10'800_s).with_unit(10'800_s), "3.00 h");
  EXPECT_EQ(TimeScale(2'056'330_s).with_unit(2'056'330_s), "23.8 d");
}

TEST(ParametersText, AsPeopleSayThem) {
  EXPECT_EQ(parameters_text(124'439'808), "124.4 M");
  EXPECT_EQ(parameters_text(8'030'261'248), "8.0 B");
  EXPECT_EQ(parameters_text(1'026'408'232'448), "1026.4 B");
}

TEST(TimeScale, PartsKeepAThousandthOfTheWhole) {
  EXPECT_EQ(TimeScale(94.2_s).part(0.05_s), "0.05");
  EXPECT_EQ(TimeScale(345_ms).part(0.2_ms), "0.2");
  EXPECT_EQ(TimeScale(2000_s).part(1_s), "1");
}

TEST(TimeScale, NothingIsZeroSeconds) { EXPECT_EQ(TimeScale(0_s).with_unit(0_s), "0.00 s"); }

TEST(PrefixedCount, ThreeDigitsAndAPrefix) {
  EXPECT_EQ(prefixed_count(453200), "453 k");
  EXPECT_EQ(prefixed_count(1.2e6), "1.20 M");
  EXPECT_EQ(prefixed_count(999.4), "999");
  EXPECT_EQ(prefixed_count(999.6), "1.00 k");
  EXPECT_EQ(prefixed_count(45.6), "45.6");
  EXPECT_EQ(prefixed_count(0.5234), "0.523");
  EXPECT_EQ(prefixed_count(0), "0");
}

TEST(WholeNumber, GroupsFromFiveDigitsOn) {
  EXPECT_EQ(whole_number(1024), "1024");
  EXPECT_EQ(whole_number(16384), "16,384");
}

TEST(ShareOf, NothingOfNothingIsNothing) { EXPECT_EQ(share_of(0_s, 0_s), 0.0); }

}  // namespace
}  // namespace headway
