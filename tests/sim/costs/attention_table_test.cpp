// Fused attention by the profile's table: what was measured, what lies between and outside.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/costs/kernel_cost.h"
#include "sim/costs/table_correction.h"
#include "tests/sim/costs/round_device.h"

namespace headway {
namespace {

/// Heads of 128, each with its own keys.
AttentionShape attention(double heads, double length) {
  return {.sequences = 1,
          .query_length = length,
          .key_length = length,
          .query_heads = heads,
          .key_heads = heads,
          .head_size = 128};
}

class AttentionTable : public testing::Test {
 protected:
  /// A measurement that took `factor` times what the formula says.
  void measure(const AttentionShape& shape, double factor, Pass pass = Pass::forward) {
    const Seconds formula = fused_attention_cost(round_device(), plain_family(), shape, pass).time;
    device_.attention_table.push_back({shape, pass, factor * formula, 0.02});
  }
  [[nodiscard]] Cost cost(const AttentionShape& shape, Pass pass = Pass::forward) const {
    return fused_attention_cost(device_, plain_family(), shape, pass);
  }
  /// The table's cost over the formula's.
  [[nodiscard]] double factor_at(const AttentionShape& shape, Pass pass = Pass::forward) const {
    return cost(shape, pass).time /
           fused_attention_cost(round_device(), plain_family(), shape, pass).time;
  }

  DeviceCosts device_ = round_device();
};

TEST_F(AttentionTable, AMeasuredShapeIsReturnedAsMeasured) {
  measure(attention(8, 1024), 1.7);
  const Cost found = cost(attention(8, 1024));
  EXPECT_EQ(found.time, device_.attention_table[0].time);
  EXPECT_EQ(found.status, CostStatus::exact);
  EXPECT_EQ(found.spread, 0.02);
}

TEST_F(AttentionTable, AnotherFamilyTakesItsRate) {
  measure(attention(8, 1024), 1.7);
  KernelFamily slow = plain_family();
  slow.attention_rate = estimate(0.5, 0.1);
  const Cost found = fused_attention_cost(device_, slow, attention(8, 1024), Pass::forward);
  EXPECT_EQ(found.time, 2.0 * device_.attention_table[0].time);
  EXPECT_EQ(found.status, CostStatus::interpolated);
  EXPECT_NEAR(found.spread, std::hypot(0.02, 0.1), 1e-12);
}

TEST_F(AttentionTable, AShapeBetweenTwoTakesTheGeometricMeanOfTheirFactors) {
  measure(attention(8, 1024), 1.5);
  measure(attention(8, 4096), 6.0);
  // Equally far from both in the logarithm: sqrt(1.5 x 6) = 3, each a factor of 2 away from it.
  EXPECT_NEAR(factor_at(attention(8, 2048)), 3.0, 1e-9);
  EXPECT_EQ(cost(attention(8, 2048)).status, CostStatus::interpolated);
  EXPECT_NEAR(cost(attention(8, 2048)).spread, std::hypot(std::log(2.0), 0.02), 1e-9);
}

TEST_F(AttentionTable, OutsideOfTheMeasuredShapesTheFormulaIsExtrapolated) {
  measure(attention(8, 1024), 2.0);
  measure(attention(16, 4096), 2.0);
  AttentionShape narrow = attention(8, 1024);
  narrow.head_size = 64;
  AttentionShape shared = attention(8, 1024);
  shared.key_heads = 2;
  for (const AttentionShape& shape :
       {attention(8, 8192), attention(4, 1024), attention(32, 2048), narrow, shared}) {
    EXPECT_NEAR(factor_at(shape), 1.0, 1e-12);
    EXPECT_EQ(cost(shape).status, CostStatus::extrapolated);
  }
}

TEST_F(AttentionTable, AnotherPassAndAnotherMaskAreNotTouched) {
  measure(attention(8, 1024), 2.0);
  AttentionShape full = attention(8, 1024);
  full.causal = false;
  EXPECT_NEAR(factor_at(full), 1.0, 1e-12);
  EXPECT_EQ(cost(full).status, CostStatus::interpolated);
  EXPECT_NEAR(factor_at(attention(8, 1024), Pass::backward), 1.0, 1e-12);
  EXPECT_EQ(cost(attention(8, 1024), Pass::backward).status, CostStatus::interpolated);
}

TEST_F(AttentionTable, AsManyHeadsOfMoreSequencesTakeAsLong) {
  measure(attention(8, 1024), 2.0);
  AttentionShape two = attention(4, 1024);
  two.sequences = 2;
  EXPECT_NEAR(factor_at(two), 2.0, 1e-12);
  EXPECT_EQ(cost(two).status, CostStatus::interpolated);
}

TEST_F(AttentionTable, ARankWithLessThanAHeadOfKeysHasAWholeOne) {
  AttentionShape whole = attention(4, 1024);
  whole.key_heads = 1;
  measure(whole, 2.0);
  AttentionShape half = whole;
  half.key_heads = 0.5;  // two heads of keys over four ranks
  EXPECT_EQ(cost(half).time, device_.attention_table[0].time);
  EXPECT_EQ(cost(half).status, CostStatus::exact);
}

TEST_F(AttentionTable, AWindowTakesTheFormulasShareOfWhatWasMeasured) {
  measure(attention(8, 1024), 2.0);
  AttentionShape windowed = attention(8, 1024);
  windowed.window = 512;
  EXPECT_NEAR(factor_at(windowed), 2.0, 1e-12);
  EXPECT_EQ(cost(windowed).status, CostStatus::interpolated);
  // The table's 2 % and the 3 % of the formula's efficiency.
  EXPECT_NEAR(cost(windowed).spread, std::hypot(0.02, 0.03), 1e-12);
}

TEST_F(AttentionTable, NoMeasurementBeatsTheRoofline) {
  measure(attention(8, 1024), 1e-3);
  // 2.147 GFLOP at the peak of 100 TFLOP/s.
  EXPECT_NEAR(cost(attention(8, 1024)).time.count(), 21.47483648e-6, 1e-12);
}

TEST(TableCorrection, OneOfJustTheseSizesAnswersAlone) {
  const std::vector<MeasuredFactor> measured = {{{0.0, 1.0}, std::log(3.0), 0.1},
                                                {{0.5, 1.0}, std::log(7.0), 0.2}};
  const auto found = table_correction({0.5, 1.0}, measured);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->factor, 7.0, 1e-12);
  EXPECT_EQ(found->spread, 0.2);
  EXPECT_FALSE(table_correction({0.5, 1.1}, measured));
  EXPECT_FALSE(table_correction({0.5, 1.0}, {}));
}

// Four around the place that is asked for, alike far away: their plane has its mean there.
TEST(TableCorrection, AmongItsNeighboursIsTheirPlane) {
  std::vector<MeasuredFactor> measured;
  for (const double x : {-0.5, 0.5}) {
    for (const double y : {-0.5, 0.5}) {
      measured.push_back({{3.0 + x, 5.0 + y}, 0.2 + 0.2 * x + 0.1 * y, 0.04});
    }
  }
  const auto found = table_correction({3.0, 5.0}, measured);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->factor, std::exp(0.2), 1e-12);
  // Their own spread, and that between them: 0.1^2 + 0.05^2.
  EXPECT_NEAR(found->spread, std::sqrt(0.04 * 0.04 + 0.1 * 0.1 + 0.05 * 0.05), 1e-12);
}

// Two on a line, 0.1 at 0 and 0.5 at 1; asked for at 1/4 they weigh 9 : 1. With a penalty p on the
// slope b, the least of 0.9 (a - b/4 - 0.1)^2 + 0.1 (a + 3 b/4 - 0.5)^2 + p b^2 is at
// a - 0.15 b = 0.14 and -0.15 a + (0.1125 + p) b = 0.015, near the line's 0.2.
TEST(TableCorrection, OnALineIsNearlyTheLine) {
  const auto found = table_correction({0.25}, {{{0.0}, 0.1, 0.0}, {{1.0}, 0.5, 0.0}});
  ASSERT_TRUE(found);
  const double held = 0.1125 + 0.003;
  EXPECT_NEAR(std::log(found->factor), (0.14 * held + 0.15 * 0.015) / (held - 0.15 * 0.15), 1e-9);
  EXPECT_NEAR(std::log(found->factor), 0.2, 0.002);
}

TEST(TableCorrection, IsNoFurtherThanItsNeighboursNorFarFromThem) {
  // Beyond a factor of 4 of the nearest nothing is known, whatever lies on either side.
  const double far = std::log(4.0) + 0.01;
  EXPECT_FALSE(table_correction({0.0}, {{{-far}, 0.1, 0.0}, {{far}, 0.1, 0.0}}));
  EXPECT_TRUE(table_correction({0.0}, {{{-far}, 0.1, 0.0}, {{far - 0.02}, 0.1, 0.0}}));
}

}  // namespace
}  // namespace headway
