#include "sim/programs/stage_costs/exchange_flow.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

/// 10 GB, a fifth of them seen, at 40 of a wire's 50 GB/s.
ExchangeCharge ten_gigabytes(Seconds seen, Seconds window) {
  return {.bytes = 10_GB,
          .share_seen = 0.2,
          .seen = seen,
          .rate = 40_GBps,
          .wire = 50_GBps,
          .window = window};
}

TEST(ExchangeFlow, WhatIsSeenOfTheTimeIsSeenOfTheBytes) {
  // 10 GB at 40 GB/s take 0.25 s; a fifth of them and 10 ms of latencies are seen.
  Bytes left_over;
  const ExchangeFlow flow = exchange_flow(ten_gigabytes(60_ms, 1_s), left_over);
  EXPECT_DOUBLE_EQ(flow.seen.count(), 2e9);
  EXPECT_DOUBLE_EQ(flow.seen_time.count(), 0.05);
  EXPECT_DOUBLE_EQ(flow.hidden.count(), 8e9);
  EXPECT_DOUBLE_EQ(flow.hidden_time.count(), 0.2);
  EXPECT_EQ(left_over, 0_B);
}

TEST(ExchangeFlow, ComputeThatIsTooShortLeavesMoreToSee) {
  // Of 10 GB, 50 ms of compute cover 2.5 GB on a wire of 50 GB/s: the rest takes 150 ms.
  Bytes left_over;
  const ExchangeFlow flow = exchange_flow(ten_gigabytes(150_ms, 50_ms), left_over);
  EXPECT_DOUBLE_EQ(flow.hidden.count(), 2.5e9);
  EXPECT_DOUBLE_EQ(flow.hidden_time.count(), 0.05);
  EXPECT_DOUBLE_EQ(flow.seen.count(), 7.5e9);
  EXPECT_DOUBLE_EQ(flow.seen_time.count(), 0.15);
  EXPECT_EQ(left_over, 0_B);
}

TEST(ExchangeFlow, WhatFitsNowhereIsLeftToAnotherPass) {
  // Charged for 100 ms beside 50 ms of compute: 7.5 of the 10 GB; the next pass has 200 ms.
  Bytes left_over;
  const ExchangeCharge charge = ten_gigabytes(100_ms, 50_ms);
  EXPECT_DOUBLE_EQ(exchange_flow(charge, left_over).seen.count(), 5e9);
  EXPECT_DOUBLE_EQ(left_over.count(), 2.5e9);
  ExchangeCharge next = charge;
  next.window = 300_ms;
  next.left_over = left_over;
  const ExchangeFlow flow = exchange_flow(next, left_over);
  EXPECT_DOUBLE_EQ(flow.hidden.count(), 8e9 + 2.5e9);
  EXPECT_DOUBLE_EQ(flow.seen.count(), 2e9);
  EXPECT_EQ(left_over, 0_B);
}

TEST(ExchangeFlow, SumsAndMultiplesAreOfAllParts) {
  PassFlows flows;
  flows.of[ExchangeKind::context] = {1_GB, 1_s, 2_s, 3_GB, 4_s};
  flows.awaited[Cause::context_parallel] = 4_s;
  PassFlows sum = 2.0 * flows;
  sum += flows;
  const ExchangeFlow& of = sum.of[ExchangeKind::context];
  EXPECT_EQ(of.hidden, 3_GB);
  EXPECT_EQ(of.hidden_time, 3_s);
  EXPECT_EQ(of.window, 6_s);
  EXPECT_EQ(of.seen, 9_GB);
  EXPECT_EQ(of.seen_time, 12_s);
  EXPECT_EQ(sum.awaited[Cause::context_parallel], 12_s);
  EXPECT_EQ(sum.of[ExchangeKind::tensor].seen, 0_B);
}

}  // namespace
}  // namespace headway
