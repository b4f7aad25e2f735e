#include "sim/programs/perturbation/period_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/base/quantile.h"

namespace headway {
namespace {

constexpr double kBlockSigma = 0.2;
// Of a lognormal variable of median 1.
const double kBlockMean = std::exp(kBlockSigma * kBlockSigma / 2.0);
const double kBlockDeviation = kBlockMean * std::sqrt(std::expm1(kBlockSigma * kBlockSigma));

/// Rank groups of one accelerator each.
Workload groups_of(int count, LocalPeriod local) {
  Workload workload;
  for (int i = 0; i < count; ++i) {
    workload.groups.push_back({.replica = i, .accelerators = {i}, .local = local});
  }
  return workload;
}

struct Spread {
  double mean = 0.0;
  double deviation = 0.0;
};

Spread spread_of(const std::vector<double>& samples) {
  Spread spread{.mean = mean(samples)};
  for (const double sample : samples) {
    spread.deviation += (sample - spread.mean) * (sample - spread.mean);
  }
  spread.deviation = std::sqrt(spread.deviation / static_cast<double>(samples.size() - 1));
  return spread;
}

/// The time factors of executions of a block by each of the groups.
std::vector<std::vector<double>> factors_of(const Workload& workload, int executions,
                                            const Perturbation& perturbation) {
  BlockDraws draws(perturbation);
  PeriodDraws period(perturbation, draws, workload);
  std::vector<std::vector<double>> factors;
  for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
    const RankGroup& ranks = workload.groups[static_cast<std::size_t>(group)];
    const BlockDraws::Devices devices = draws.devices(ranks.accelerators);
    std::vector<double>& of_group = factors.emplace_back();
    for (int i = 0; i < executions; ++i) {
      of_group.push_back(period.factor(group, devices.drawn, devices.undrawn_factor,
                                       static_cast<std::uint32_t>(i)));
    }
  }
  return factors;
}

const Perturbation kJitter{.seed = 3, .jitter = {.spread = kBlockSigma}};

TEST(PeriodDraws, TheMeanOfAPeriodSpreadsByTheRootOfItsSteps) {
  // The mean of K independent draws has their mean, and 1 / sqrt(K) of their deviation. Of 4,000
  // such means the deviation scatters by 1 / sqrt(8,000) of itself; four of those are allowed.
  constexpr int kExecutions = 4'000;
  for (const int steps : {1, 4, 64, 400, 1'000'000}) {
    const Spread spread =
        spread_of(factors_of(groups_of(1, {.steps = steps}), kExecutions, kJitter).front());
    const double expected = kBlockDeviation / std::sqrt(steps);
    EXPECT_NEAR(spread.deviation, expected, 0.045 * expected) << steps;
    EXPECT_NEAR(spread.mean, kBlockMean, 4.0 * expected / std::sqrt(kExecutions) + 2e-5) << steps;
  }
}

TEST(PeriodDraws, AGroupIsAsSlowAsItsSlowestDeviceInEachStep) {
  // Of two equal devices the larger draw has the mean 2 exp(s^2 / 2) Phi(s / sqrt 2): in a long
  // period that, and of a repaired and a slow one no less than the slow one's.
  Workload pair;
  pair.groups.push_back({.accelerators = {0, 1}, .local = {.steps = 1'000'000}});
  const double larger = 2.0 * kBlockMean * normal_probability(kBlockSigma / std::sqrt(2.0));
  EXPECT_NEAR(factors_of(pair, 1, kJitter)[0][0], larger, 1.5e-3);
  Perturbation hardly_unequal = kJitter;  // which are drawn one by one
  hardly_unequal.slow_accelerators = {{1, 1.0 + 1e-9}};
  EXPECT_NEAR(factors_of(pair, 1, hardly_unequal)[0][0], larger, 1.5e-3);
  Perturbation unequal = kJitter;
  unequal.slow_accelerators = {{1, 10.0}};
  EXPECT_NEAR(factors_of(pair, 1, unequal)[0][0], 10.0 * kBlockMean, 1e-2);
}

TEST(PeriodDraws, InAnIslandAStepIsDrawnInFull) {
  // What ranks of an island differ by is what two draws differ by, sqrt(2) deviations; what the
  // same rank of two islands differs by is 1 / sqrt(K) of it (the normal variables have a
  // correlation of 1 - 1/K, hence the lognormal ones one of (exp(s^2 (1 - 1/K)) - 1) / (exp(s^2) -
  // 1), which of s = 0.2 and K = 100 leaves 1.02 / K).
  constexpr int kExecutions = 4'000;
  constexpr int kSteps = 100;
  Workload workload = groups_of(4, {.steps = kSteps, .meets_others = true});
  for (std::size_t i = 0; i < 4; ++i) workload.groups[i].local.place = static_cast<int>(i % 2);
  const std::vector<std::vector<double>> factors = factors_of(workload, kExecutions, kJitter);
  const auto difference = [&](std::size_t a, std::size_t b) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < kExecutions; ++i) {
      differences.push_back(factors[a][i] - factors[b][i]);
    }
    return spread_of(differences).deviation;
  };
  const Spread one = spread_of(factors[0]);
  EXPECT_NEAR(one.deviation, kBlockDeviation, 0.045 * kBlockDeviation);
  EXPECT_NEAR(one.mean, kBlockMean, 4.0 * kBlockDeviation / std::sqrt(kExecutions));
  const double of_two = std::sqrt(2.0) * kBlockDeviation;
  EXPECT_NEAR(difference(0, 1), of_two, 0.045 * of_two);
  EXPECT_NEAR(difference(0, 2), std::sqrt(1.02 / kSteps) * of_two, 0.05 * of_two / 10.0);
}

TEST(PeriodDraws, MicroBatchesOfAPeriodAverageToo) {
  constexpr int kExecutions = 4'000;
  const Perturbation perturbation{.seed = 3, .micro_batches = {.spread = kBlockSigma}};
  BlockDraws draws(perturbation);
  for (const int steps : {4, 400}) {
    const Workload workload = groups_of(1, {.steps = steps});
    PeriodDraws period(perturbation, draws, workload);
    std::vector<double> factors;
    for (int i = 0; i < kExecutions; ++i) factors.push_back(period.micro_batch_factor(0, i));
    const double expected = kBlockDeviation / std::sqrt(steps);
    EXPECT_NEAR(spread_of(factors).deviation, expected, 0.045 * expected) << steps;
    EXPECT_EQ(period.micro_batch_factor(0, -1), 1.0);
  }
}

TEST(PeriodDraws, WithoutPeriodsNothingChanges) {
  const Workload workload = groups_of(2, {});
  BlockDraws draws(kJitter);
  EXPECT_FALSE(PeriodDraws(kJitter, draws, workload).any());
  EXPECT_FALSE(PeriodDraws({}, draws, groups_of(2, {.steps = 4})).any());
}

}  // namespace
}  // namespace headway
