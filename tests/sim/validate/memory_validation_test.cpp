#include "sim/validate/memory_validation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/result/words/memory_margin.h"

namespace headway {
namespace {

/// The trials of arXiv:2311.05610, of which some ran out of memory.
const MemoryValidation& trials() {
  static const MemoryValidation kTrials = [] {
    ValidateOptions options;
    options.filter.words["framework"] = {"aleph-alpha"};
    Diagnostics diagnostics;
    MemoryValidation validation = validate_memory("", options, diagnostics);
    diagnostics.throw_if_errors();
    return validation;
  }();
  return kTrials;
}

TEST(MemoryValidation, TellsMostTrialsRight) {
  const MemorySummary& all = trials().summary.front();
  EXPECT_EQ(all.ran, 192);
  EXPECT_EQ(all.failed, 457);
  EXPECT_EQ(all.refused, 0);
  EXPECT_GE(static_cast<double>(all.accepted), 0.97 * 192);
  EXPECT_GE(static_cast<double>(all.rejected), 0.93 * 457);
}

TEST(MemoryValidation, AHigherLimitAcceptsMoreAndRejectsFewer) {
  const auto& trade_off = trials().trade_off;
  EXPECT_TRUE(std::ranges::is_sorted(trade_off, {}, &MemoryTradeOff::limit));
  EXPECT_TRUE(std::ranges::is_sorted(trade_off, {}, &MemoryTradeOff::accepted));
  EXPECT_TRUE(std::ranges::is_sorted(trade_off, std::greater(), &MemoryTradeOff::rejected));
  const auto whole = std::ranges::find(trade_off, 1.0, &MemoryTradeOff::limit);
  ASSERT_NE(whole, trade_off.end());
  EXPECT_EQ(whole->accepted, trials().summary.front().accepted);
  EXPECT_EQ(whole->rejected, trials().summary.front().rejected);
}

// What results say of jobs that leave little.
TEST(MemoryValidation, JobsThatAreAsGoodAsFullRanOutAsOftenAsResultsSay) {
  Diagnostics diagnostics;
  const MemoryValidation all = validate_memory("", {}, diagnostics);
  const auto at = [&](double limit) {
    return *std::ranges::find(all.trade_off, limit, &MemoryTradeOff::limit);
  };
  const MemoryTradeOff nearly = at(FullMemory::share);
  const MemoryTradeOff whole = at(1.0);
  const std::int64_t ran = whole.accepted - nearly.accepted;
  const std::int64_t ran_out = nearly.rejected - whole.rejected;
  EXPECT_EQ(ran + ran_out, FullMemory::jobs);
  EXPECT_EQ(ran_out, FullMemory::ran_out);
}

// A layout needs the same with FlashAttention 1 and 2, and ran with one of them only.
TEST(MemoryValidation, SomeTrialsNoLimitTellsApart) {
  std::int64_t wrong = 0;
  for (const MemoryRow& row : trials().rows) wrong += row.is_right() ? 0 : 1;
  EXPECT_GE(trials().undecidable, 1);
  EXPECT_LE(trials().undecidable, wrong);
}

}  // namespace
}  // namespace headway
