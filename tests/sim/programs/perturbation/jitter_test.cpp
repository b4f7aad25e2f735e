#include "sim/programs/perturbation/jitter.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/tanh_sinh.hpp>
#include <cmath>
#include <vector>

namespace headway {
namespace {

/// The mean of the largest of `draws`: u is even, so it is the integral of the quantile over (0,
/// 1).
double mean_of_largest(const Jitter& jitter, int draws) {
  boost::math::quadrature::tanh_sinh<double> integrator;
  return integrator.integrate([&](double u) { return largest_draw(jitter, u, draws); }, 1e-12,
                              1.0 - 1e-12);
}

TEST(Jitter, TheLargestOfNExponentialsIsTheirHarmonicSumOnAverage) {
  // E max = mean * (1 + 1/2 + ... + 1/n) (Renyi 1953): 1, 25/12 and 4.7438909 for n = 1, 4, 64.
  const Jitter jitter{.kind = Jitter::Kind::exponential, .spread = 0.1};
  EXPECT_NEAR(mean_of_largest(jitter, 1), 1.1, 1e-6);
  EXPECT_NEAR(mean_of_largest(jitter, 4), 1.0 + 0.1 * 25.0 / 12.0, 1e-6);
  EXPECT_NEAR(mean_of_largest(jitter, 64), 1.0 + 0.1 * 4.7438909, 1e-6);
}

TEST(Jitter, TheLargestOfNLognormalsByQuadrature) {
  // E max = integral of x dF(x)^n = integral of n exp(s z) Phi(z)^(n-1) phi(z) dz.
  const boost::math::normal normal;
  const double sigma = 0.2;
  boost::math::quadrature::tanh_sinh<double> integrator;
  for (const int n : {1, 8, 512}) {
    const double expected = integrator.integrate(
        [&](double z) {
          return n * std::exp(sigma * z) * std::pow(boost::math::cdf(normal, z), n - 1) *
                 boost::math::pdf(normal, z);
        },
        -10.0, 10.0);
    EXPECT_NEAR(mean_of_largest({.spread = sigma}, n), expected, 1e-5 * expected) << n;
  }
}

TEST(Jitter, AGammaHasMeanOneAndItsCoefficientOfVariation) {
  const Jitter jitter{.kind = Jitter::Kind::gamma, .spread = 0.3};
  EXPECT_NEAR(mean_of_largest(jitter, 1), 1.0, 1e-6);
  boost::math::quadrature::tanh_sinh<double> integrator;
  const double square = integrator.integrate(
      [&](double u) { return std::pow(largest_draw(jitter, u, 1), 2.0); }, 1e-12, 1.0 - 1e-12);
  EXPECT_NEAR(std::sqrt(square - 1.0), 0.3, 1e-5);
}

TEST(Jitter, QuantilesAreJoinedByStraightLines) {
  // The least 1, the median 1.2, the most 2: at a quarter 1.1, at three quarters 1.6.
  const Jitter jitter{.kind = Jitter::Kind::quantiles, .quantiles = {1.0, 1.2, 2.0}};
  EXPECT_DOUBLE_EQ(largest_draw(jitter, 0.25, 1), 1.1);
  EXPECT_DOUBLE_EQ(largest_draw(jitter, 0.75, 1), 1.6);
  // Of two the median is the quantile sqrt(1/2) = 0.7071 of one: 1.2 + 0.8 * 0.4142.
  EXPECT_NEAR(largest_draw(jitter, 0.5, 2), 1.2 + 0.8 * (std::sqrt(2.0) - 1.0), 1e-12);
}

TEST(Jitter, TheLeastOfALognormalIsSixSigmasBelowOne) {
  EXPECT_NEAR((Jitter{.kind = Jitter::Kind::lognormal, .spread = 0.5}).least(), std::exp(-3.0),
              1e-15);
}

TEST(Jitter, NoDrawIsBelowTheLeast) {
  const std::vector<Jitter> all = {{.spread = 0.1},
                                   {.kind = Jitter::Kind::gamma, .spread = 0.1},
                                   {.kind = Jitter::Kind::exponential, .spread = 0.1},
                                   {.kind = Jitter::Kind::quantiles, .quantiles = {0.9, 1.5}}};
  for (const Jitter& jitter : all) {
    EXPECT_FALSE(jitter.none());
    EXPECT_GE(largest_draw(jitter, 1e-9, 1), jitter.least());
  }
  EXPECT_TRUE(Jitter{}.none());
  EXPECT_TRUE((Jitter{.kind = Jitter::Kind::gamma}).none());
}

}  // namespace
}  // namespace headway
