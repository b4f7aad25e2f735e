#include "sim/base/quantile.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace headway {
namespace {

using testing::DoubleNear;

TEST(Quantile, OfSamplesLiesOnStraightLinesBetweenThem) {
  // Of 10, 20, 40: the median is 20, the quantile 0.75 half way to 40.
  EXPECT_EQ(quantile({10.0, 20.0, 40.0}, 0.5), 20.0);
  EXPECT_EQ(quantile({10.0, 20.0, 40.0}, 0.75), 30.0);
  EXPECT_EQ(quantile({7.0}, 0.95), 7.0);
  EXPECT_EQ(mean({10.0, 20.0, 60.0}), 30.0);
}

TEST(Quantile, BetweenInfiniteSamplesIsInfinite) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  EXPECT_EQ(quantile({1.0, kNever, kNever}, 0.75), kNever);
  EXPECT_EQ(quantile({1.0, kNever}, 0.0), 1.0);
}

TEST(Quantile, NormalQuantilesAreThoseOfTheTables) {
  // Abramowitz and Stegun 1964, table 26.5, and Wichura 1988 (AS 241) for the far tail.
  EXPECT_THAT(normal_tail_quantile(0.5), DoubleNear(0.0, 1e-15));
  EXPECT_THAT(normal_tail_quantile(0.05), DoubleNear(1.6448536269514722, 1e-14));
  EXPECT_THAT(normal_tail_quantile(0.975), DoubleNear(-1.9599639845400545, 1e-14));
  EXPECT_THAT(normal_tail_quantile(1e-10), DoubleNear(6.361340902404056, 1e-12));
}

TEST(Quantile, NormalProbabilitiesLeadBackToTheirQuantiles) {
  EXPECT_THAT(normal_probability(1.0), DoubleNear(0.8413447460685429, 1e-15));
  for (const double upper : {1e-8, 0.1, 0.3, 0.9}) {
    EXPECT_THAT(normal_probability(-normal_tail_quantile(upper)),
                DoubleNear(upper, 1e-14 + 1e-12 * upper));
  }
}

TEST(Quantile, GammaQuantilesAreThoseOfShapesThatClose) {
  for (const double upper : {1e-9, 0.01, 0.4, 0.99}) {
    // Shape 1 is the exponential variable; of shape 2, P(X > x) = (1 + x) exp(-x).
    EXPECT_THAT(gamma_tail_quantile(1.0, upper), DoubleNear(-std::log(upper), 1e-12));
    const double x = gamma_tail_quantile(2.0, upper);
    EXPECT_THAT((1.0 + x) * std::exp(-x) / upper, DoubleNear(1.0, 1e-11));
  }
}

}  // namespace
}  // namespace headway
