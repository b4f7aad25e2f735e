#include "sim/programs/perturbation/perturbation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "sim/programs/perturbation/block_draws.h"

namespace headway {
namespace {

double factor_of(const Perturbation& perturbation, std::span<const std::int32_t> accelerators,
                 std::uint32_t operation) {
  BlockDraws draws(perturbation);
  const BlockDraws::Devices devices = draws.devices(accelerators);
  return draws.factor(devices.drawn, devices.undrawn_factor, operation);
}

std::vector<std::int32_t> first_accelerators(int count) {
  std::vector<std::int32_t> accelerators(static_cast<std::size_t>(count));
  std::iota(accelerators.begin(), accelerators.end(), 0);
  return accelerators;
}

/// The factors of `draws` executions of a block by a group of equal devices, sorted.
std::vector<double> sorted_draws(double sigma, int ranks, int draws) {
  const Perturbation perturbation{.seed = 5, .jitter = {.spread = sigma}};
  const auto accelerators = first_accelerators(ranks);
  const auto devices = device_time_factors(perturbation, accelerators);
  std::vector<double> factors;
  for (int i = 0; i < draws; ++i) {
    factors.push_back(factor_of(perturbation, accelerators, static_cast<std::uint32_t>(i)));
  }
  std::ranges::sort(factors);
  return factors;
}

TEST(Perturbation, NoneLeavesEveryTimeAsItIs) {
  const Perturbation perturbation;
  const auto accelerators = first_accelerators(8);
  EXPECT_TRUE(perturbation.none());
  const auto devices = device_time_factors(perturbation, accelerators);
  for (const double factor : devices) EXPECT_EQ(factor, 1.0);
  EXPECT_EQ(factor_of(perturbation, accelerators, 3), 1.0);
}

TEST(Perturbation, TheSlowestOfManyFollowsTheDistributionOfTheMaximum) {
  // The largest of n numbers is below x with probability F(x)^n, so its quantile q is F's quantile
  // q^(1/n): exp(sigma z(q^(1/n))). Of 20,000 draws the share below it scatters by
  // sqrt(q (1 - q) / 20,000), 0.0035 at most; four of those are allowed.
  constexpr int kDraws = 20000;
  constexpr double kSigma = 0.05;
  const boost::math::normal normal;
  for (const int ranks : {1, 2, 8, 64, 512}) {
    const std::vector<double> factors = sorted_draws(kSigma, ranks, kDraws);
    for (const double q : {0.01, 0.1, 0.5, 0.9, 0.99}) {
      const double quantile =
          std::exp(kSigma * boost::math::quantile(normal, std::pow(q, 1.0 / ranks)));
      const auto below = std::ranges::lower_bound(factors, quantile) - factors.begin();
      EXPECT_NEAR(static_cast<double>(below) / kDraws, q, 4.0 * std::sqrt(q * (1.0 - q) / kDraws))
          << ranks << " ranks, quantile " << q;
    }
  }
}

TEST(Perturbation, DevicesDifferByTheirSpreadAroundOne) {
  // 20,000 logs of factors: mean 0 within 4 sigma / sqrt(n), deviation sigma within 2 %.
  const Perturbation perturbation{.device_spread = 0.03};
  const auto factors = device_time_factors(perturbation, first_accelerators(20000));
  double sum = 0.0;
  double squares = 0.0;
  for (const double factor : factors) {
    sum += std::log(factor);
    squares += std::log(factor) * std::log(factor);
  }
  const double mean = sum / 20000.0;
  EXPECT_NEAR(mean, 0.0, 4.0 * 0.03 / std::sqrt(20000.0));
  EXPECT_NEAR(std::sqrt(squares / 20000.0 - mean * mean), 0.03, 0.03 * 0.02);
}

TEST(Perturbation, AListedAcceleratorIsThatMuchSlower) {
  const Perturbation perturbation{.slow_accelerators = {{2, 1.5}}};
  EXPECT_FALSE(perturbation.none());
  const auto accelerators = first_accelerators(4);
  const auto devices = device_time_factors(perturbation, accelerators);
  EXPECT_EQ(devices, (std::vector<double>{1.0, 1.0, 1.5, 1.0}));
  // The others wait for it.
  EXPECT_EQ(factor_of(perturbation, accelerators, 0), 1.5);
}

TEST(Perturbation, ListedAndDrawnFactorsMultiply) {
  const Perturbation drawn{.device_spread = 0.1};
  Perturbation both = drawn;
  both.slow_accelerators[1] = 2.0;
  const auto accelerators = first_accelerators(3);
  const auto of_drawn = device_time_factors(drawn, accelerators);
  const auto of_both = device_time_factors(both, accelerators);
  EXPECT_EQ(of_both[0], of_drawn[0]);
  EXPECT_EQ(of_both[1], 2.0 * of_drawn[1]);
  EXPECT_EQ(of_both[2], of_drawn[2]);
}

TEST(Perturbation, ADrawDependsOnNothingButItsArguments) {
  const Perturbation perturbation{.seed = 9, .device_spread = 0.05, .jitter = {.spread = 0.02}};
  const std::vector<std::int32_t> forward = {4, 5, 6, 7};
  const std::vector<std::int32_t> backward = {7, 6, 5, 4};
  const auto devices = device_time_factors(perturbation, forward);
  const auto reversed = device_time_factors(perturbation, backward);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(devices[i], reversed[3 - i]);

  std::vector<double> ascending;
  for (std::uint32_t i = 0; i < 100; ++i) {
    ascending.push_back(factor_of(perturbation, forward, i));
  }
  for (std::uint32_t i = 100; i-- > 0;) {
    EXPECT_EQ(factor_of(perturbation, forward, i), ascending[i]);
    // Devices of different speed draw one by one, in any order.
    EXPECT_EQ(factor_of(perturbation, backward, i), ascending[i]);
  }
}

TEST(Perturbation, SeedsAndOperationsAndAcceleratorsDrawAnew) {
  const auto factor = [](std::uint64_t seed, std::int32_t accelerator, std::uint32_t operation) {
    const std::vector<std::int32_t> one = {accelerator};
    const std::vector<double> nominal = {1.0};
    return factor_of({.seed = seed, .jitter = {.spread = 0.1}}, one, operation);
  };
  EXPECT_NE(factor(1, 0, 0), factor(2, 0, 0));
  EXPECT_NE(factor(1, 0, 0), factor(1, 1, 0));
  EXPECT_NE(factor(1, 0, 0), factor(1, 0, 1));
  // The device's own factor is not the first operation's.
  const std::vector<std::int32_t> one = {0};
  EXPECT_NE(device_time_factors({.device_spread = 0.1}, one)[0], factor(1, 0, 0));
}

TEST(Repair, MakesAnAcceleratorTypicalAndLeavesTheRest) {
  Perturbation slow{.jitter = {.spread = 0.1}, .slow_accelerators = {{1, 1.5}, {2, 3.0}}};
  slow.repair = {.time_factor = 1.25, .accelerators = {2}};
  const auto accelerators = first_accelerators(4);
  const auto devices = device_time_factors(slow, accelerators);
  EXPECT_EQ(devices, (std::vector<double>{1.0, 1.5, 1.25, 1.0}));
  // Nothing is drawn for it either.
  const std::vector<std::int32_t> repaired = {2};
  EXPECT_EQ(factor_of(slow, repaired, 7), 1.25);
  // The draws of the others are what they were.
  const std::vector<std::int32_t> other = {3};
  Perturbation before = slow;
  before.repair = {};
  const std::vector<double> nominal = {1.0};
  EXPECT_EQ(factor_of(slow, other, 7), factor_of(before, other, 7));
}

TEST(Repair, TheTypicalFactorIsTheLowerMedian) {
  // Factors 1, 1.5, 3 and 1: in order 1, 1, 1.5, 3; the second is the lower median.
  const Perturbation slow{.slow_accelerators = {{1, 1.5}, {2, 3.0}}};
  EXPECT_EQ(typical_time_factor(slow, first_accelerators(4)), 1.0);
  // Of the first three, 1, 1.5 and 3, the middle one.
  EXPECT_EQ(typical_time_factor(slow, first_accelerators(3)), 1.5);
  EXPECT_EQ(typical_time_factor({}, {}), 1.0);
}

TEST(Repair, CoversWhatItNames) {
  const Repair repair{.accelerators = {2, 5}, .blocks = {"backward"}};
  EXPECT_TRUE(repair.covers(5));
  EXPECT_FALSE(repair.covers(3));
  EXPECT_TRUE(repair.covers_block("backward"));
  EXPECT_FALSE(repair.covers_block("forward"));
}

// Of lognormal draws the largest of one is 1 half the time, of more it is above: of four
// exp(0.1 x 0.998), where 0.998 is the normal quantile of 0.5^(1/4) = 0.841.
TEST(SlowestDevice, IsSlowerTheMoreThereAre) {
  EXPECT_EQ(median_of_slowest(0.0, 100), 1.0);
  EXPECT_NEAR(median_of_slowest(0.1, 1), 1.0, 1e-9);
  EXPECT_NEAR(median_of_slowest(0.1, 4), std::exp(0.1 * 0.998), 1e-4);
}

TEST(Perturbation, MicroBatchesAreAlikeUnlessTheyVary) {
  EXPECT_EQ(micro_batch_factor({}, 0, 0), 1.0);
}

}  // namespace
}  // namespace headway
