#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

template <class Q>
double read_back(const std::string& text) {
  const auto parsed = parse_quantity<Q>(text);
  return std::holds_alternative<Q>(parsed) ? std::get<Q>(parsed).count()
                                           : std::numeric_limits<double>::quiet_NaN();
}

TEST(ExactText, TakesTheLargestUnitOfAtLeastOne) {
  EXPECT_EQ(exact_text(1.5_us), "1.5 us");
  EXPECT_EQ(exact_text(0.5_ns), "0.5 ns");
  EXPECT_EQ(exact_text(1000_us), "1 ms");
  EXPECT_EQ(exact_text(12.25_s), "12.25 s");
  EXPECT_EQ(exact_text(400_Gbps), "50 GB/s");
  EXPECT_EQ(exact_text(3.35_TBps), "3.35 TB/s");
  EXPECT_EQ(exact_text(989_TFLOPps), "989 TFLOP/s");
  EXPECT_EQ(exact_text(Flops(3.8e25)), "38 YFLOP");
}

TEST(ExactText, LongTimesAreInMinutesHoursAndDaysWhereThatIsShort) {
  EXPECT_EQ(exact_text(Seconds(30 * 86400.0)), "30 d");
  EXPECT_EQ(exact_text(Seconds(5400.0)), "1.5 h");
  EXPECT_EQ(exact_text(Seconds(100.0)), "100 s");
}

TEST(ExactText, SizesAreBinaryWhereThatIsShort) {
  EXPECT_EQ(exact_text(80_GiB), "80 GiB");
  EXPECT_EQ(exact_text(80_GB), "80 GB");
  EXPECT_EQ(exact_text(Bytes(1536)), "1.5 KiB");
  EXPECT_EQ(exact_text(Bytes(1000)), "1 KB");
  EXPECT_EQ(exact_text(Bytes(512)), "512 B");
  EXPECT_EQ(exact_text(Bytes(16777216)), "16 MiB");
}

TEST(ExactText, EdgesHaveAText) {
  EXPECT_EQ(exact_text(Seconds(0.0)), "0 s");
  EXPECT_EQ(exact_text(Seconds(-0.0)), "0 s");
  EXPECT_EQ(exact_text(Bytes(0.0)), "0 B");
  EXPECT_EQ(exact_text(-5_GBps), "-5 GB/s");
  EXPECT_EQ(exact_text(Seconds(1e-30)), "1e-21 ns");
  EXPECT_EQ(exact_text(BytesPerSecond(1e40)), "1e25 PB/s");
  EXPECT_EQ(exact_text(Seconds(std::numeric_limits<double>::infinity())), "inf s");
}

template <class Q>
void expect_round_trips(double farthest = 27.0) {
  constexpr unsigned kSeed = 20261120;
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> exponent(-12.0, farthest);
  for (int i = 0; i < 5000; ++i) {
    double value = std::pow(10.0, exponent(random));
    if (i % 3 == 0) value = std::round(value);
    const std::string text = exact_text(Q(value));
    ASSERT_EQ(read_back<Q>(text), value) << text << ", seed " << kSeed;
  }
}

TEST(ExactText, ReadsBackToTheSameValue) {
  expect_round_trips<Seconds>(12.0);  // longer ones are not read
  expect_round_trips<Bytes>();
  expect_round_trips<BytesPerSecond>();
  expect_round_trips<Flops>();
  expect_round_trips<FlopsPerSecond>();
}

TEST(ShortText, HasThreeOrFourDigitsAndAFittingUnit) {
  EXPECT_EQ(short_text(Seconds(6.9432)), "6.94 s");
  EXPECT_EQ(short_text(Seconds(12.3456e-6)), "12.3 us");
  EXPECT_EQ(short_text(Bytes(31.8 * 1024 * 1024 * 1024)), "31.8 GiB");
  EXPECT_EQ(short_text(Bytes(141e9)), "131.3 GiB");
  EXPECT_EQ(short_text(BytesPerSecond(47.1234e9)), "47.1 GB/s");
  EXPECT_EQ(short_text(FlopsPerSecond(431.7e12)), "432 TFLOP/s");
  EXPECT_EQ(short_text(50_GBps), "50 GB/s");
  EXPECT_EQ(short_text(64_MiB), "64 MiB");
}

TEST(ShortText, RoundingUpChangesTheUnit) {
  EXPECT_EQ(short_text(Seconds(999.6e-6)), "1 ms");
  EXPECT_EQ(short_text(Seconds(999.4e-6)), "999 us");
  EXPECT_EQ(short_text(Bytes(1024.0 * 1024.0 - 1.0)), "1 MiB");
}

TEST(ShortText, LongTimesAreInMinutesHoursAndDays) {
  EXPECT_EQ(short_text(Seconds(94.2)), "94.2 s");
  EXPECT_EQ(short_text(Seconds(738.0)), "12.3 min");
  EXPECT_EQ(short_text(Seconds(18756.0)), "5.21 h");
  EXPECT_EQ(short_text(Seconds(38.2 * 86400.0)), "38.2 d");
}

TEST(ShortText, EdgesHaveAText) {
  EXPECT_EQ(short_text(Seconds(0.0)), "0 s");
  EXPECT_EQ(short_text(Bytes(0.0)), "0 B");
  EXPECT_EQ(short_text(BytesPerSecond(0.0)), "0 B/s");
  EXPECT_EQ(short_text(Flops(0.0)), "0 FLOP");
  EXPECT_EQ(short_text(FlopsPerSecond(0.0)), "0 FLOP/s");
  EXPECT_EQ(short_text(Seconds(-0.0032)), "-3.2 ms");
  EXPECT_EQ(short_text(Seconds(2e-13)), "0.0002 ns");
  EXPECT_EQ(short_text(Bytes(3e20)), "2.73e+08 TiB");
  EXPECT_EQ(short_text(Seconds(std::numeric_limits<double>::quiet_NaN())), "nan s");
}

TEST(GroupedDigits, AreGroupedByThousands) {
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(999), "999");
  EXPECT_EQ(grouped_digits(1000), "1,000");
  EXPECT_EQ(grouped_digits(16777216), "16,777,216");
  EXPECT_EQ(grouped_digits(-123456), "-123,456");
  EXPECT_EQ(grouped_digits(std::numeric_limits<long long>::min()), "-9,223,372,036,854,775,808");
}

TEST(QuantityFormat, OneIsNotMany) {
  EXPECT_EQ(counted(1, "GPU"), "1 GPU");
  EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
  EXPECT_EQ(counted(16384, "GPU"), "16,384 GPUs");
  EXPECT_EQ(counted(2, "switch"), "2 switches");
  EXPECT_EQ(plural(1, "switch"), "switch");
}

}  // namespace
}  // namespace headway
