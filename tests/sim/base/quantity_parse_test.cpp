#include <gtest/gtest.h>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

struct Reading {
  std::string_view text;
  double value;  ///< in SI base units
};

template <class Q>
void expect_readings(std::initializer_list<Reading> readings) {
  for (const Reading& reading : readings) {
    const auto parsed = parse_quantity<Q>(reading.text);
    ASSERT_TRUE(std::holds_alternative<Q>(parsed))
        << reading.text << ": " << std::get<QuantityProblem>(parsed).problem;
    EXPECT_EQ(std::get<Q>(parsed).count(), reading.value) << reading.text;
  }
}

/// "problem | help"
template <class Q>
std::string refusal(std::string_view text) {
  const auto parsed = parse_quantity<Q>(text);
  if (std::holds_alternative<Q>(parsed)) return "accepted";
  const auto& problem = std::get<QuantityProblem>(parsed);
  return problem.problem + " | " + problem.help;
}

TEST(QuantityParsing, KnowsEveryUnitOfTime) {
  expect_readings<Seconds>({{"1 ns", 1e-9},
                            {"1.5 us", 1.5e-6},
                            {"3 ms", 3e-3},
                            {"0.25 s", 0.25},
                            {"2 min", 120.0},
                            {"1.5 h", 5400.0},
                            {"30 d", 2592000.0}});
}

TEST(QuantityParsing, KnowsEveryUnitOfSize) {
  expect_readings<Bytes>({{"7 B", 7.0},
                          {"7 KB", 7e3},
                          {"7 kB", 7e3},
                          {"7 MB", 7e6},
                          {"80 GB", 80e9},
                          {"7 TB", 7e12},
                          {"7 PB", 7e15},
                          {"1 KiB", 1024.0},
                          {"1 MiB", 1048576.0},
                          {"80 GiB", 85899345920.0},
                          {"1 TiB", 1099511627776.0}});
}

TEST(QuantityParsing, KnowsEveryUnitOfBandwidth) {
  expect_readings<BytesPerSecond>({{"8 b/s", 1.0},
                                   {"8 Kb/s", 1e3},
                                   {"8 Mb/s", 1e6},
                                   {"400 Gb/s", 50e9},
                                   {"1.6 Tb/s", 200e9},
                                   {"8 Pb/s", 1e15},
                                   {"3 B/s", 3.0},
                                   {"3 KB/s", 3e3},
                                   {"3 MB/s", 3e6},
                                   {"50 GB/s", 50e9},
                                   {"3.35 TB/s", 3.35e12},
                                   {"3 PB/s", 3e15},
                                   {"1 KiB/s", 1024.0},
                                   {"1 MiB/s", 1048576.0},
                                   {"1 GiB/s", 1073741824.0},
                                   {"1 TiB/s", 1099511627776.0}});
}

TEST(QuantityParsing, KnowsEveryUnitOfWorkAndComputeRate) {
  expect_readings<Flops>({{"1 FLOP", 1.0},
                          {"1 KFLOP", 1e3},
                          {"1 MFLOP", 1e6},
                          {"1 GFLOP", 1e9},
                          {"1 TFLOP", 1e12},
                          {"1 PFLOP", 1e15},
                          {"1 EFLOP", 1e18},
                          {"314 ZFLOP", 3.14e23},
                          {"38 YFLOP", 3.8e25}});
  expect_readings<FlopsPerSecond>({{"1 FLOP/s", 1.0},
                                   {"1 KFLOP/s", 1e3},
                                   {"1 MFLOP/s", 1e6},
                                   {"1 GFLOP/s", 1e9},
                                   {"989 TFLOP/s", 989e12},
                                   {"1.98 PFLOP/s", 1.98e15},
                                   {"2 EFLOP/s", 2e18}});
}

TEST(QuantityParsing, SpaceIsOptionalAndExponentsAreNumbers) {
  expect_readings<BytesPerSecond>({{"400Gb/s", 50e9},
                                   {"  50   GB/s ", 50e9},
                                   {"5e1 GB/s", 50e9},
                                   {"5E+10 B/s", 50e9},
                                   {"5000e-2GB/s", 50e9},
                                   {".5 TB/s", 0.5e12}});
  expect_readings<Flops>({{"1.5EFLOP", 1.5e18}});  // the E is the prefix
}

TEST(QuantityParsing, ZeroMayHaveAnyExponent) {
  expect_readings<Bytes>({{"0e2147483647 GB", 0.0}, {"0e-2147483648 B", 0.0}, {"0e99 B", 0.0}});
}

TEST(QuantityParsing, DecimalUnitsRoundOnce) {
  // 0.1 * 1e-6 is not the double nearest to 1e-7.
  expect_readings<Seconds>({{"0.1 us", 1e-7}, {"0.7 ns", 7e-10}, {"1e-3 us", 1e-9}});
}

TEST(QuantityParsing, NegativeNumbersAreReadForTheRangeToRefuse) {
  expect_readings<BytesPerSecond>({{"-5 GB/s", -5e9}, {"-0.5 B/s", -0.5}});
}

TEST(QuantityParsing, BareNumberNeedsAUnit) {
  EXPECT_EQ(refusal<BytesPerSecond>("400"),
            "a bandwidth needs a unit | write \"400 Gb/s\" (bits, as NICs are sold) or "
            "\"400 GB/s\" (bytes); they differ by 8");
  EXPECT_EQ(refusal<Bytes>("80"),
            "a size needs a unit | write \"80 GB\" (powers of 1000) or \"80 GiB\" (powers of "
            "1024)");
  EXPECT_EQ(refusal<Seconds>("2.5"),
            "a time needs a unit | write \"2.5 us\", \"2.5 ms\" or \"2.5 s\" (also ns, min, h, d)");
  EXPECT_EQ(refusal<Flops>("3"), "an amount of work needs a unit | write \"3 TFLOP\"");
  EXPECT_EQ(refusal<FlopsPerSecond>("989"), "a compute rate needs a unit | write \"989 TFLOP/s\"");
}

TEST(QuantityParsing, UnknownUnitSaysHowToWriteIt) {
  EXPECT_EQ(refusal<BytesPerSecond>("400 GBit"),
            "unknown unit \"GBit\" | write \"400 Gb/s\" (bits, as NICs are sold) or \"400 GB/s\" "
            "(bytes); they differ by 8");
  EXPECT_EQ(refusal<BytesPerSecond>("3 tbps"),
            "unknown unit \"tbps\" | write \"3 Tb/s\" (bits, as NICs are sold) or \"3 TB/s\" "
            "(bytes); they differ by 8");
  EXPECT_EQ(refusal<Bytes>("512 mb"),
            "unknown unit \"mb\" | write \"512 MB\" (powers of 1000) or \"512 MiB\" (powers of "
            "1024)");
  EXPECT_EQ(refusal<Bytes>("1K"),
            "unknown unit \"K\" | write \"1 KB\" (powers of 1000) or \"1 KiB\" (powers of 1024)");
  EXPECT_EQ(refusal<FlopsPerSecond>("989 TFLOPS"),
            "unknown unit \"TFLOPS\" | write \"989 TFLOP/s\"");
  EXPECT_EQ(refusal<Seconds>("5 \xC2\xB5s"), "unknown unit \"\xC2\xB5s\" | write \"5 us\"");
  EXPECT_EQ(refusal<Seconds>("3 minutes"), "unknown unit \"minutes\" | write \"3 min\"");
  EXPECT_EQ(refusal<Seconds>("3 m"),
            "unknown unit \"m\" | write \"3 us\", \"3 ms\" or \"3 s\" (also ns, min, h, d)");
}

TEST(QuantityParsing, AnotherDimensionIsNamed) {
  EXPECT_EQ(refusal<BytesPerSecond>("5 ms"),
            "\"5 ms\" is a time, not a bandwidth | write a bandwidth such as \"400 Gb/s\"");
  EXPECT_EQ(refusal<Seconds>("80 GiB"),
            "\"80 GiB\" is a size, not a time | write a time such as \"1.5 us\"");
  EXPECT_EQ(refusal<BytesPerSecond>("400 Gb"),
            "\"400 Gb\" is a size, not a bandwidth | write \"400 Gb/s\"");
  EXPECT_EQ(refusal<Flops>("5 TFLOP/s"),
            "\"5 TFLOP/s\" is a compute rate, not an amount of work | write \"5 TFLOP\"");
}

TEST(QuantityParsing, SizeInBitsIsRefused) {
  EXPECT_EQ(refusal<Bytes>("80 Gb"),
            "\"80 Gb\" counts bits; a size is written in bytes | write \"80 GB\" (B is byte, b is "
            "bit)");
  EXPECT_EQ(refusal<Bytes>("80 Gb/s"),
            "\"80 Gb/s\" is a bandwidth, not a size | write a size such as \"80 GiB\"");
}

TEST(QuantityParsing, OnlyFiniteDecimalNumbersAreNumbers) {
  EXPECT_EQ(refusal<BytesPerSecond>("nan GB/s"),
            "\"nan GB/s\" does not start with a number | write a bandwidth such as \"400 Gb/s\"");
  EXPECT_EQ(refusal<Seconds>("inf s"),
            "\"inf s\" does not start with a number | write a time such as \"1.5 us\"");
  EXPECT_EQ(refusal<Seconds>("-inf s"),
            "\"-inf s\" does not start with a number | write a time such as \"1.5 us\"");
  EXPECT_EQ(refusal<Seconds>(""),
            "\"\" does not start with a number | write a time such as \"1.5 us\"");
  EXPECT_EQ(refusal<Seconds>("fast"),
            "\"fast\" does not start with a number | write a time such as \"1.5 us\"");
  EXPECT_EQ(refusal<Bytes>("1e999 B"),
            "\"1e999 B\" is beyond what a number can hold | write a size such as \"80 GiB\"");
  EXPECT_EQ(refusal<Bytes>("1e300 PB"),
            "\"1e300 PB\" is beyond what a number can hold | write a size such as \"80 GiB\"");
  EXPECT_EQ(refusal<Bytes>("1e99999999999 B"),
            "\"1e99999999999 B\" is beyond what a number can hold | write a size such as \"80 "
            "GiB\"");
  EXPECT_EQ(refusal<Bytes>("1,000 B"),
            "the number in \"1,000 B\" has separators | write the digits without separators, with "
            "a point for decimals");
  EXPECT_EQ(refusal<Bytes>("0x10 B"),
            "unknown unit \"x10 B\" | write \"0 GB\" (powers of 1000) or \"0 GiB\" (powers of "
            "1024)");
}

TEST(QuantityParsing, TimesBeyondAllRunsAreRefused) {
  // 30,000 years of 365.25 days are 9.5e11 s.
  expect_readings<Seconds>({{"1e12 s", 1e12}});
  EXPECT_EQ(refusal<Seconds>("1e9 d"),
            "\"1e9 d\" is more than 30,000 years | write a time such as \"1.5 us\"");
  EXPECT_EQ(refusal<Seconds>("-1e9 d"),
            "\"-1e9 d\" is more than 30,000 years | write a time such as \"1.5 us\"");
}

}  // namespace
}  // namespace headway
