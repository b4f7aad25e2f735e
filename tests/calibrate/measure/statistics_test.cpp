#include "calibrate/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace headway {
namespace {

TEST(Statistics, QuantilesLieOnLinesBetweenOrderStatistics) {
  // Five samples stand at 0, 1/4, 1/2, 3/4, 1.
  const std::vector<double> sorted = {1, 2, 4, 8, 16};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 4.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.625), 6.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1.0), 16.0);
}

TEST(Statistics, MedianAndDeviationIgnoreOneWildSample) {
  // Deviations from 3: 2, 1, 0, 1, 997 -> median 1
  EXPECT_DOUBLE_EQ(median({1000, 1, 2, 3, 4}), 3.0);
  EXPECT_DOUBLE_EQ(median_absolute_deviation({1000, 1, 2, 3, 4}), 1.0);
}

TEST(Statistics, MedianIntervalMatchesTheBinomialTables) {
  // n = 6: P(all on one side) = 1/64 = 1.6 % <= 2.5 %, so the extremes bound the median;
  // n = 5: 1/32 = 3.1 % is too much. n = 11: P(at most 1) = 12/2048 = 0.6 %,
  // P(at most 2) = 67/2048 = 3.3 %: the 2nd and the 10th sample.
  EXPECT_FALSE(median_interval(5).exists);
  const MedianInterval six = median_interval(6);
  EXPECT_TRUE(six.exists);
  EXPECT_EQ(six.lower, 0U);
  EXPECT_EQ(six.upper, 5U);
  const MedianInterval eleven = median_interval(11);
  EXPECT_EQ(eleven.lower, 1U);
  EXPECT_EQ(eleven.upper, 9U);
}

TEST(Statistics, RelativeIntervalIsInfiniteWithTooFewSamples) {
  EXPECT_TRUE(std::isinf(relative_median_interval({1, 2, 3})));
  // (9 - 1) / 2 / 5 of 0..10, median 5
  EXPECT_DOUBLE_EQ(relative_median_interval({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 0.8);
}

TEST(Statistics, MedianIntervalCoversTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> noise(0.0, 0.5);  // median 1
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> samples(21);
    for (double& sample : samples) sample = noise(random);
    std::sort(samples.begin(), samples.end());
    const MedianInterval interval = median_interval(samples.size());
    covered += samples[interval.lower] <= 1.0 && 1.0 <= samples[interval.upper] ? 1 : 0;
  }
  // At least 95 %; three sigma of the trials below.
  EXPECT_GT(covered, kTrials * 0.95 - 3.0 * std::sqrt(kTrials * 0.95 * 0.05));
}

TEST(Statistics, AutocorrelationTellsEpisodesFromNoise) {
  // Alternating about the mean: covariance -5, variance 6 -> -5/6.
  EXPECT_NEAR(lag_one_autocorrelation({1, -1, 1, -1, 1, -1}), -5.0 / 6.0, 1e-12);
  // 1 1 1 -1 -1 -1: products 1, 1, -1, 1, 1 = 3; 3/6
  EXPECT_NEAR(lag_one_autocorrelation({1, 1, 1, -1, -1, -1}), 0.5, 1e-12);
  EXPECT_EQ(lag_one_autocorrelation({2, 2, 2}), 0.0);
}

}  // namespace
}  // namespace headway
