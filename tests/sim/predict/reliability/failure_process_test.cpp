#include "sim/predict/reliability/failure_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kSecondsOfDay = 86400.0;

std::int64_t failures_until(double end, const std::vector<FailureCause>& causes,
                            std::uint64_t seed) {
  FailureProcess process(causes, seed);
  std::int64_t count = 0;
  for (; process.next().time < end; process.pop()) ++count;
  return count;
}

FailureCause units(int count, Lifetime lifetime) {
  return {.name = "node", .lifetime = std::move(lifetime), .units = count};
}

TEST(FailureProcess, MeanTimeBetweenFailuresOfAJobIsThatOfANodeOverNodes) {
  // Kokolis et al. 2025 (arXiv:2410.21680): RSC-1 has 6.5 failures in 1000 node-days of 8-GPU
  // nodes; projected for 16,384 GPUs 1.8 h, for 131,072 GPUs 0.23 h. Over 4000 failures the mean is
  // known to 1.6 %.
  for (const auto& [gpus, hours] : {std::pair{16384, 1.8}, std::pair{131072, 0.23}}) {
    const double end = 4000.0 * hours * 3600.0;
    const auto count =
        failures_until(end, {units(gpus / 8, {.mean = Seconds(1000.0 / 6.5 * kSecondsOfDay)})}, 3);
    EXPECT_NEAR(end / static_cast<double>(count) / 3600.0 / hours, 1.0, 0.05) << gpus;
    EXPECT_NEAR(1000.0 / 6.5 * 24.0 / (gpus / 8) / hours, 1.0, 0.025) << gpus;
  }
}

TEST(FailureProcess, WeibullUnitsFailOnceInTheirMeanLifetime) {
  // Renewal theory: over a time much longer than a lifetime, count / time tends to 1 / mean,
  // whatever the shape. 50 units over 200 lifetimes: 10,000 failures; their count scatters by
  // about the coefficient of variation (1.46 at shape 0.7) / sqrt(10,000).
  for (const double shape : {0.7, 1.0, 2.0}) {
    const auto count = failures_until(
        200.0 * kSecondsOfDay,
        {units(50,
               {.kind = LifetimeKind::weibull, .mean = Seconds(kSecondsOfDay), .shape = shape})},
        11);
    EXPECT_NEAR(static_cast<double>(count) / 10000.0, 1.0, 0.05) << shape;
  }
}

TEST(FailureProcess, ObservedLifetimesAreDrawnFrom) {
  const std::vector<FailureCause> causes = {
      units(1, {.kind = LifetimeKind::empirical, .mean = 7_s, .observed = {7_s}})};
  FailureProcess process(causes, 1);
  EXPECT_EQ(process.next().time, 7.0);
  process.pop();
  EXPECT_EQ(process.next().time, 14.0);
}

TEST(FailureProcess, NothingBreaksWithoutACause) {
  const std::vector<FailureCause> none;
  EXPECT_TRUE(std::isinf(FailureProcess(none, 1).next().time));
}

TEST(FailureProcess, TheSameSeedGivesTheSameHistory) {
  const std::vector<FailureCause> causes = {units(10, {.mean = Seconds(kSecondsOfDay)})};
  FailureProcess a(causes, 5);
  FailureProcess b(causes, 5);
  FailureProcess c(causes, 6);
  EXPECT_EQ(a.next().time, b.next().time);
  EXPECT_NE(a.next().time, c.next().time);
}

TEST(FailureProcess, CausesDoNotDisturbEachOther) {
  // Memoryless units that fail four times as often fail at a quarter of the times; what fails
  // beside them fails when it did.
  const auto history = [](double mean_days) {
    const std::vector<FailureCause> causes = {
        units(10, {.mean = Seconds(mean_days * kSecondsOfDay)}),
        units(10, {.kind = LifetimeKind::weibull, .mean = Seconds(kSecondsOfDay), .shape = 0.7})};
    FailureProcess process(causes, 5);
    std::vector<std::vector<double>> times(2);
    for (; times[0].size() < 100 || times[1].size() < 100; process.pop()) {
      times[static_cast<std::size_t>(process.next().cause)].push_back(process.next().time);
    }
    for (std::vector<double>& of_cause : times) of_cause.resize(100);
    return times;
  };
  const auto seldom = history(4.0);
  const auto often = history(1.0);
  EXPECT_EQ(seldom[1], often[1]);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_DOUBLE_EQ(seldom[0][i], 4.0 * often[0][i]);
}

TEST(FailureProcess, HistoriesWithoutEndAreRefused) {
  // The memoryless together are one that is drawn again after each failure; others are drawn each.
  const std::vector<FailureCause> causes = {
      units(1000, {.mean = Seconds(kSecondsOfDay)}),
      units(3,
            {.kind = LifetimeKind::weibull, .mean = Seconds(1e9 * kSecondsOfDay), .shape = 1.0})};
  FailureProcess process(causes, 1, 10);
  EXPECT_EQ(process.drawn(), 4);
  for (int i = 0; i < 6; ++i) process.pop();
  EXPECT_EQ(process.drawn(), 10);
  try {
    process.pop();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(rendered(error.diagnostics().front()),
              "error: the job breaks too often to be followed: its histories hold more than 50 "
              "million failures\n"
              "  --> /reliability\n"
              "  help: take fewer \"runs\", a shorter \"duration\" or longer mean times; where no "
              "checkpoint is done before the next failure, training never ends\n");
  }
  EXPECT_THROW(FailureProcess(causes, 1, 3), InputError);
}

}  // namespace
}  // namespace headway
