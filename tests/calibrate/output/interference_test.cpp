#include "calibrate/output/interference.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

const GemmPoint kProduct{{2, 3, 4}, Precision::bf16, GemmLayout::nn};
const MemoryPoint kPass{MemoryKernel::residual_add, 4096};
const CopyPoint kTransfer{CopyKind::few_blocks, 1024};
const CopyPoint kHostCopy{CopyKind::host_to_device, 1024};

MeasuredPoint measured(const ConcurrentPoint& point, double microseconds, double mad = 0.0) {
  MeasuredPoint result;
  result.point = point;
  result.measured.time = Seconds(1e-6 * microseconds);
  result.measured.mad = mad;
  return result;
}

/// A product and a transfer of 10 us and 20 us, that take so much beside each other.
std::vector<MeasuredPoint> pair(double product, double transfer) {
  return {measured({kProduct, {}}, 10.0), measured({kTransfer, {}}, 20.0),
          measured({kProduct, kTransfer}, product), measured({kTransfer, kProduct}, transfer)};
}

TEST(Slowdowns, AreTimesOverTheTimeOfTheSameWorkByItself) {
  const auto found = slowdowns(pair(11.0, 30.0));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].factor, 1.1);
  EXPECT_DOUBLE_EQ(found[1].factor, 1.5);
  EXPECT_EQ(slowdowns_text(found),
            "gemm bf16 nn 2 x 3 x 4 beside copy few_blocks of 1 KiB: 1.100; "
            "copy few_blocks of 1 KiB beside gemm bf16 nn 2 x 3 x 4: 1.500");
}

TEST(Slowdowns, NeedTheWorkByItself) {
  EXPECT_TRUE(slowdowns({measured({kProduct, kTransfer}, 11.0)}).empty());
  EXPECT_TRUE(
      slowdowns({measured({kPass, {}}, 5.0), measured({kProduct, kTransfer}, 11.0)}).empty());
}

TEST(Interference, IsTheShareOfTheShorterThatIsSeen) {
  // The product takes 12.5 us instead of 10: in the 30 us of a shorter transfer 24 us of it are
  // done, the transfer costs 6 us, 0.3 of its 20. A shorter product lasts 12.5 us, in which
  // 12.5 / 1.5 us of the transfer are done: it costs 4.1667 us, 0.41667 of its 10.
  const auto found = interference(slowdowns(pair(12.5, 30.0)));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->value, (0.3 + 1.25 / 3.0) / 2.0, 1e-12);
  EXPECT_NEAR(found->spread, (1.25 / 3.0 - 0.3) / 2.0 / found->value, 1e-12);
}

TEST(Interference, OfWorkThatTakesNoTimeFromTheOtherIsNone) {
  const auto found = interference(slowdowns(pair(9.9, 20.0)));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value, 0.0);
  EXPECT_EQ(found->spread, 1.0);
}

TEST(Interference, IsAtMostTheWholeOfTheShorter) {
  // 3 (1 - 1/3) = 2 both ways: worse than one after the other, which nobody has to suffer.
  EXPECT_EQ(interference(slowdowns(pair(30.0, 60.0)))->value, 1.0);
}

TEST(Interference, IsThatOfProductsAndFewBlocksAlone) {
  EXPECT_FALSE(interference(
      slowdowns({measured({kPass, {}}, 10.0), measured({kTransfer, {}}, 20.0),
                 measured({kPass, kTransfer}, 15.0), measured({kTransfer, kPass}, 25.0)})));
  EXPECT_FALSE(interference(
      slowdowns({measured({kProduct, {}}, 10.0), measured({kHostCopy, {}}, 20.0),
                 measured({kProduct, kHostCopy}, 15.0), measured({kHostCopy, kProduct}, 25.0)})));
}

TEST(Interference, IsThatOfCollectivesWhereProductsWereTimedBesideSome) {
  const CollectivePoint collective{CollectiveKind::all_reduce, "nccl", 1024, 2};
  auto points = pair(12.5, 30.0);
  EXPECT_FALSE(hold_collectives(slowdowns(points)));
  points.push_back(measured({collective, {}}, 40.0));
  points.push_back(measured({kProduct, collective}, 20.0));
  points.push_back(measured({collective, kProduct}, 80.0));
  EXPECT_TRUE(hold_collectives(slowdowns(points)));
  // Each takes twice as long beside the other: 2 (1 - 1/2) = 1 of the shorter, both ways.
  EXPECT_NEAR(interference(slowdowns(points))->value, 1.0, 1e-12);
}

TEST(Interference, IsAsUncertainAsTheTimesItIsMadeOf) {
  // A sigma of 20 % in one time moves the share by about 0.2.
  auto points = pair(12.5, 30.0);
  points[2].measured.mad = 0.2 / 1.4826;
  const auto found = interference(slowdowns(points));
  EXPECT_NEAR(found->spread, 0.2 / found->value, 1e-9);
}

}  // namespace
}  // namespace headway
