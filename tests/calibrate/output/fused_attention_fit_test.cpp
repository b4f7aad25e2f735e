#include "calibrate/output/fused_attention_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headway {
namespace {

/// A pass over 8 heads whose time is 2 ps an operation times `factor`.
MeasuredAttention row(double length, double head_size, Pass pass, double factor) {
  MeasuredAttention measured;
  measured.shape = {.sequences = 1,
                    .query_length = length,
                    .key_length = length,
                    .query_heads = 8,
                    .key_heads = 8,
                    .head_size = head_size};
  measured.pass = pass;
  measured.time = Seconds(2e-12 * factor * fused_operations(pass) * measured.shape.forward_flops());
  return measured;
}

TEST(FittedAttention, TellsRateStartHeadsAndBackwardPassApart) {
  // 1 + 512/s: 1.5 at 1024 positions, 1.125 at 4096; heads of 64 take 2^0.5 as long.
  const double narrow = std::sqrt(2.0);
  const auto fit = fitted_attention(
      {row(1024, 128, Pass::forward, 1.5), row(4096, 128, Pass::forward, 1.125),
       row(1024, 64, Pass::forward, 1.5 * narrow), row(4096, 128, Pass::backward, 1.125 / 0.8)},
      200.0, 0.3);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->rate, 5e11, 1e6);
  EXPECT_NEAR(*fit->sequence_half, 512.0, 1e-3);
  EXPECT_NEAR(*fit->head_exponent, 0.5, 1e-9);
  EXPECT_NEAR(*fit->backward, 0.8, 1e-6);
  EXPECT_NEAR(fit->residual.most, 0.0, 1e-6);
  EXPECT_EQ(fit->residual.points, 4);
}

TEST(FittedAttention, TakesWhatItIsGivenWhereTheRowsCannotTell) {
  // One length and one head size: 1 + 200/1000 belongs to the start that was given.
  const auto fit = fitted_attention({row(1000, 128, Pass::forward, 1.2)}, 200.0, 0.3);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->rate, 5e11, 1e6);
  EXPECT_FALSE(fit->sequence_half);
  EXPECT_FALSE(fit->head_exponent);
  EXPECT_FALSE(fit->backward);
}

TEST(FittedAttention, NeedsAForwardPass) {
  EXPECT_FALSE(fitted_attention({}, 200.0, 0.3));
  EXPECT_FALSE(fitted_attention({row(1000, 128, Pass::backward, 1.0)}, 200.0, 0.3));
}

}  // namespace
}  // namespace headway
