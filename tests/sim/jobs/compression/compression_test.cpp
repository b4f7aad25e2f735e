// What compressed gradients leave on the wire, and what does not go with them.
#include "sim/jobs/compression/compression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "sim/jobs/memory.h"
#include "tests/sim/jobs/sample_models.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kLlama3;
using testing::problems;
using testing::read_strategy_text;

constexpr double kHalf = 2.0;  // bytes of an element

Compression by(std::string_view name) {
  return {.method = &*std::ranges::find(compressors(), name, &Compressor::name)};
}

TEST(Compression, NoneSendsEverything) {
  EXPECT_EQ(compressed_message({}, {.elements = 1000.0}, kHalf, 8), Bytes(2000.0));
}

TEST(Compression, QuantisedElementsHaveTheirBits) {
  Compression how = by("quantise");
  how.bits = 4.0;
  EXPECT_EQ(compressed_message(how, {.elements = 1000.0}, kHalf, 8), Bytes(500.0));
}

// A hundredth of a million elements, each 2 bytes and an index of 4, of each of 8 ranks.
TEST(Compression, TopKGathersElementsWithTheirIndices) {
  Compression how = by("top_k");
  how.density = 0.01;
  const GradientPart part{.elements = 1e6};
  EXPECT_EQ(how.method->sent(how, part, kHalf), Bytes(60e3));
  EXPECT_EQ(compressed_message(how, part, kHalf, 8), Bytes(480e3));
}

TEST(Compression, LowRankSendsFactors) {
  const Compression how = by("low_rank");
  EXPECT_EQ(compressed_message(how, {.elements = 1e6, .factors = 8e3}, kHalf, 8), Bytes(16e3));
}

// 1-bit Adam with FP16: a sixteenth, after a warm-up of 15 %: 1 / (0.15 + 0.85 / 16) = 4.923 times
// less.
TEST(Compression, OneBitSavesWhatItsWarmUpLeaves) {
  Compression how = by("one_bit");
  const GradientPart part{.elements = 16e6};
  EXPECT_EQ(compressed_message(how, part, kHalf, 8), Bytes(2e6));
  how.warm_up = 0.15;
  EXPECT_NEAR(compressed_message({}, part, kHalf, 8) / compressed_message(how, part, kHalf, 8),
              4.923, 0.0005);
}

// Of 1,000 elements of 2 bytes, and what was left of each in 4.
TEST(Compression, StreamsWhatItReadsAndWrites) {
  const auto streamed = [](const Compression& how) {
    return how.method->streamed(how, {.elements = 1000.0, .factors = 80.0}, kHalf, 8).count();
  };
  Compression how = by("quantise");  // read, written in 4 bits, those read, written
  how.bits = 4.0;
  EXPECT_DOUBLE_EQ(streamed(how), 1000 * (2 + 0.5 + 0.5 + 2));
  // Gradients and what was left are read, their sum written and read again, zeros written; 10 are
  // written with their indices of 4, and of each of 8 ranks read and added to what is there.
  how = by("top_k");
  how.density = 0.01;
  EXPECT_DOUBLE_EQ(streamed(how), 1000 * (2 + 4 + 4 + 4 + 2) + 10 * 6 + 8 * 10 * (6 + 2 + 2.0));
  // Two read and one written, read for either factor; their product written, read and written.
  EXPECT_DOUBLE_EQ(streamed(by("low_rank")), 1000 * 2 * (3 + 2 + 3.0));
  // Momentum and what was left are read, what is left and an eighth written; that is read, and the
  // momentum written.
  how = by("one_bit");
  how.warm_up = 0.2;
  EXPECT_DOUBLE_EQ(streamed(how), 0.8 * 1000 * (2 + 4 + 4 + 0.125 + 0.125 + 2));
}

TEST(Compression, IsReadAndWritten) {
  const auto reading = read_strategy_text(kLlama3, R"(    "data_parallel": 8,
    "compression": {"method": "top_k", "density": 0.1}, "global_batch": 64)",
                                          8);
  ASSERT_TRUE(reading.read) << reading.problems;
  EXPECT_TRUE(reading.read->strategy.compression.is("top_k"));
  EXPECT_DOUBLE_EQ(reading.read->strategy.compression.density, 0.1);
}

// What is left out of a gradient stays in fp32: 4 bytes of each of 8.03 billion.
TEST(Compression, KeepsWhatItLeavesOut) {
  const auto gradients = [](const std::string& method) {
    const auto reading =
        read_strategy_text(kLlama3,
                           R"(    "data_parallel": 8, "compression": {"method": ")" + method +
                               R"("}, "global_batch": 64)",
                           8);
    EXPECT_TRUE(reading.read) << reading.problems;
    return stage_memory(testing::llama(32, 4096, 32, 8, 14'336), reading.read->strategy)
        .front()
        .gradients.count();
  };
  const double kept = 4.0 * 8.03e9;
  EXPECT_NEAR(gradients("top_k") - gradients("none"), kept, 0.01 * kept);
  EXPECT_EQ(gradients("quantise"), gradients("none"));
}

TEST(StrategyProblem, CompressionNeedsAnAllReduceOfWholeGradients) {
  const auto found = [](const std::string& more) {
    return problems(
        kLlama3,
        R"(    "compression": {"method": "quantise"}, )" + more + R"(, "global_batch": 64)", 8);
  };
  EXPECT_TRUE(
      found(R"("zero_stage": 1)").starts_with("error: zero_stage does not go with compression\n"))
      << found(R"("zero_stage": 1)");
  EXPECT_TRUE(found(R"("tensor_parallel": 2)")
                  .starts_with("error: tensor_parallel does not go with compression\n"));
  EXPECT_TRUE(found(R"("synchronisation": {"scheme": "local_steps"})")
                  .starts_with("error: compression needs synchronisation.scheme \"all_reduce\"\n"));
  EXPECT_EQ(found(R"("zero_stage": 0)"), "");
}

TEST(StrategyProblem, AFieldOfAnotherCompressionSaysNothing) {
  const std::string found = problems(kLlama3, R"(    "data_parallel": 8,
    "compression": {"method": "quantise", "density": 0.1}, "global_batch": 64)",
                                     8);
  EXPECT_TRUE(found.starts_with("error: density needs method \"top_k\"\n")) << found;
}

TEST(Compression, IsAnObject) {
  const std::string found =
      problems(kLlama3, R"("compression": "top_k", "data_parallel": 8, "global_batch": 64)", 8);
  EXPECT_NE(found.find("\"compression\" must be an object"), std::string::npos) << found;
  EXPECT_NE(found.find("write \"compression\": {\"method\": ...}"), std::string::npos) << found;
}

}  // namespace
}  // namespace headway
