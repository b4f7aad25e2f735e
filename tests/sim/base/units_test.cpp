#include "sim/base/units.h"

#include <gtest/gtest.h>

#include <concepts>
#include <limits>

namespace headway {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Comparable = requires(A a, B b) { a < b; };
template <class A, class B>
concept Multipliable = requires(A a, B b) { a* b; };

TEST(Units, FourHundredGigabitIsFiftyGigabyte) { EXPECT_EQ(400_Gbps, 50_GBps); }

TEST(Units, BinaryAndDecimalPrefixesDiffer) {
  EXPECT_EQ((1_GB).count(), 1e9);
  EXPECT_EQ((1_GiB).count(), 1073741824.0);
  EXPECT_EQ(1_MiB, 1024_KiB);
}

TEST(Units, SmallTimesAreTheNearestDoubles) {
  EXPECT_EQ((3_us).count(), 3e-6);
  EXPECT_EQ((7_ns).count(), 7e-9);
  EXPECT_EQ((2.5_ms).count(), 2.5e-3);
}

TEST(Units, BytesOverBandwidthIsTime) {
  EXPECT_EQ(100_GB / 50_GBps, 2_s);
  EXPECT_EQ(100_GB / 2_s, 50_GBps);
  EXPECT_EQ(50_GBps * 2_s, 100_GB);
  EXPECT_EQ(2_s * 50_GBps, 100_GB);
}

TEST(Units, WorkOverComputeRateIsTime) {
  EXPECT_EQ(10_TFLOP / 5_TFLOPps, 2_s);
  EXPECT_EQ(10_TFLOP / 2_s, 5_TFLOPps);
  EXPECT_EQ(5_TFLOPps * 2_s, 10_TFLOP);
}

TEST(Units, SameDimensionsAddScaleAndDivide) {
  Seconds time = 1_s;
  time += 500_ms;
  time -= 250_ms;
  time *= 2.0;
  EXPECT_EQ(time, 2.5_s);
  EXPECT_EQ(-time, Seconds(-2.5));
  EXPECT_EQ(0.5 * time, time / 2.0);
  EXPECT_EQ(time / 500_ms, 5.0);
  EXPECT_EQ(max(1_s, 2_s), 2_s);
  EXPECT_EQ(min(1_s, 2_s), 1_s);
}

TEST(Units, DifferentDimensionsDoNotMix) {
  static_assert(!Addable<Seconds, Bytes>);
  static_assert(!Addable<Seconds, double>);
  static_assert(!Comparable<Bytes, Flops>);
  static_assert(!Multipliable<Seconds, Seconds>);
  static_assert(!Multipliable<Flops, Bytes>);
  static_assert(!std::convertible_to<double, Seconds>);
}

TEST(Units, FinitenessIsThatOfTheNumber) {
  EXPECT_TRUE(is_finite(1_s));
  EXPECT_FALSE(is_finite(Seconds(std::numeric_limits<double>::infinity())));
  EXPECT_FALSE(is_finite(Bytes(0.0) / Bytes(0.0) * 1_s));
}

}  // namespace
}  // namespace headway
