#include "sim/predict/reliability/reliability.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/base/quantile.h"
#include "sim/scenario/read_reliability.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using testing::HasSubstr;

nlohmann::json weeks() {
  return {{"train_tokens", 1e9},
          {"runs", 50},
          {"detection", "1 min"},
          {"restart", "4 min"},
          {"spare_nodes", 1},
          {"checkpoint", {{"storage_bandwidth", "10 GB/s"}}},
          {"failures",
           {{{"cause", "GPU"}, {"of", "gpu"}, {"mean_time", "30 d"}, {"repair_time", "1 d"}},
            {{"cause", "bug"}, {"of", "software"}, {"mean_time", "10 d"}}}}};
}

Scenario small_with_failures(const nlohmann::json& reliability) {
  nlohmann::json text = small_scenario(4);
  text["reliability"] = reliability;
  return scenario_of(text);
}

std::string reliability_problems(const nlohmann::json& reliability) {
  return problems_in([&] { static_cast<void>(small_with_failures(reliability)); });
}

TEST(Reliability, FiftyFourDaysOfLlama3) {
  // Grattafiori et al. 2024 (arXiv:2407.21783), section 3.3.4: 419 unexpected interruptions in 54
  // days, effective training time over 90 %. 95 % of Poisson counts of mean 419 lie in 379 .. 459.
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario("llama3_405b_54_days", {}, diagnostics);
  const ReliabilityPrediction result = reliability(scenario, 6.2_s);
  EXPECT_GT(result.interruptions.mean, 379.0);
  EXPECT_LT(result.interruptions.mean, 459.0);
  // The mean of 200 histories scatters by sqrt(419 / 200) = 1.4.
  EXPECT_NEAR(result.interruptions.mean, 419.0, 6.0);
  EXPECT_NEAR(result.interruptions.low, 419.0 - 1.645 * 20.5, 10.0);
  EXPECT_GT(result.ettr.low, 0.90);
  EXPECT_LT(result.ettr.high, 1.0);
  EXPECT_NEAR(result.interruptions_by_cause.at("faulty GPU"), 148.0, 4.0);
  EXPECT_NEAR(result.job_mttf.count(), 54.0 * 86400.0 / 419.0, 200.0);
}

TEST(Reliability, ACheckpointHoldsParametersAndOptimizer) {
  // Every stage and tensor-parallel rank has its part once: 14 bytes a parameter. The
  // small_with_failures model: 8 layers of 12 h^2 + 13 h with h = 1024 (biases and norms), 32,000 x
  // 1024 of the embedding, its copy as output head, 1024 positions and the last norm, to a per
  // mille (what ranks hold twice).
  const Scenario scenario = small_with_failures(weeks());
  const double h = 1024.0;
  const double parameters = 8.0 * (12.0 * h * h + 13.0 * h) + 2.0 * 32000.0 * h + 1024.0 * h;
  EXPECT_NEAR(checkpoint_bytes(scenario.model, *scenario.strategy).count() / (14.0 * parameters),
              1.0, 0.01);
  EXPECT_EQ(scenario.reliability->checkpoint.size,
            checkpoint_bytes(scenario.model, *scenario.strategy));
  EXPECT_EQ(scenario.reliability->checkpoint.blocking,
            scenario.reliability->checkpoint.size / BytesPerSecond(10e9));
}

TEST(Reliability, UnitsAreCountedFromTheJob) {
  nlohmann::json all = weeks();
  all["nodes_per_rack"] = 3;
  all["failures"] = nlohmann::json::array();
  for (const char* of : {"gpu", "node", "nic", "switch", "rack", "software"}) {
    nlohmann::json failure = {{"cause", of}, {"of", of}, {"mean_time", "100 d"}};
    const std::string name = of;
    if (name != "switch" && name != "software") failure["repair_time"] = "1 d";
    all["failures"].push_back(failure);
  }
  // Four nodes of two accelerators and two NICs around one switch; racks of three nodes.
  std::vector<int> units;
  std::vector<int> lost;
  const auto scenario = small_with_failures(all);
  for (const FailureCause& cause : scenario.reliability->causes) {
    units.push_back(cause.units);
    lost.push_back(cause.nodes_lost);
  }
  EXPECT_EQ(units, (std::vector<int>{8, 4, 8, 1, 2, 1}));
  EXPECT_EQ(lost, (std::vector<int>{1, 1, 1, 0, 3, 0}));
}

TEST(Reliability, WithoutFailuresTrainingTakesItsIterationsAndNothingElse) {
  nlohmann::json quiet = weeks();
  quiet["failures"] = nlohmann::json::array();
  const ReliabilityPrediction result = reliability(small_with_failures(quiet), 2_s);
  // 1e9 tokens / (32 sequences x 1024) = 30,517.6, hence 30,518 iterations of 2 s.
  EXPECT_EQ(median(result.time_to_train_s), 61036.0);
  EXPECT_EQ(result.goodput.mean, 1.0);
  EXPECT_EQ(result.interruptions.mean, 0.0);
}

TEST(Reliability, MoreFailuresNeverTrainFaster) {
  double before = 0.0;
  for (const char* mean : {"1000 d", "100 d", "10 d", "2 d"}) {
    nlohmann::json more = weeks();
    more["failures"][0]["mean_time"] = mean;
    const double time = median(reliability(small_with_failures(more), 2_s).time_to_train_s);
    EXPECT_GE(time, before) << mean;
    before = time;
  }
}

TEST(Reliability, NoIntervalThatIsGivenIsBetterThanTheSearchedOne) {
  const nlohmann::json restart = {{"method", "restart"}};
  const nlohmann::json drop_out = {
      {"method", "drop_out"}, {"reconfigure", "30 s"}, {"state_bandwidth", "10 GB/s"}};
  for (const nlohmann::json& recovery : {restart, drop_out}) {
    SCOPED_TRACE(recovery.dump());
    nlohmann::json weeks_with_failures = weeks();
    weeks_with_failures["recovery"] = recovery;
    weeks_with_failures["failures"][0]["mean_time"] = "2 d";
    const auto at = [&](const std::string& interval) {
      weeks_with_failures["checkpoint"]["interval"] = interval;
      return reliability(small_with_failures(weeks_with_failures), 2_s);
    };
    const auto time = [](const ReliabilityPrediction& of) {
      const auto& times = of.time_to_train_s;
      return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    };
    const ReliabilityPrediction best = at("search");
    EXPECT_EQ(best.interval_by, "search");
    // From a second to the whole run of 17 hours.
    for (double seconds = 1.0; seconds < 61036.0; seconds *= 1.5) {
      EXPECT_LE(time(best), time(at(fmt::format("{} s", seconds))) * (1.0 + 1e-4))
          << seconds << " s, searched " << best.checkpoint_interval.count() << " s";
    }
  }
}

TEST(Reliability, WhereNobodyGoesBackNoCheckpointIsTheBest) {
  // Processes end and start anew beside the others: no failure undoes more than a step of 2 s. A
  // checkpoint takes 25 s.
  nlohmann::json soft = weeks();
  soft["recovery"] = {
      {"method", "drop_out"}, {"reconfigure", "30 s"}, {"state_bandwidth", "10 GB/s"}};
  soft["failures"] = {{{"cause", "bug"}, {"of", "software"}, {"mean_time", "5 h"}}};
  soft["checkpoint"] = {{"storage_bandwidth", "100 MB/s"}, {"interval", "search"}};
  const ReliabilityPrediction best = reliability(small_with_failures(soft), 2_s);
  EXPECT_GE(best.checkpoint_interval.count(), 61036.0);
  EXPECT_EQ(best.lost_gpu_hours.at("checkpoints"), 0.0);
}

TEST(Reliability, TheSameSeedGivesTheSameNumbers) {
  const ReliabilityPrediction a = reliability(small_with_failures(weeks()), 2_s);
  const ReliabilityPrediction b = reliability(small_with_failures(weeks()), 2_s);
  EXPECT_EQ(a.time_to_train_s, b.time_to_train_s);
}

TEST(Reliability, SpotNodesThatAreTakenBackCountAsFailures) {
  // Two of them are, at two moments of a day; a checkpoint takes c, so that Young's interval is
  // sqrt(2 c 12 h).
  nlohmann::json spot = weeks();
  spot["failures"] = nlohmann::json::array();
  spot["recovery"] = {{"method", "shrink"}};
  spot["availability"] = nlohmann::json::parse(
      R"([["0 s", 4], ["6 h", 3], ["7 h", 4], ["12 h", 2], ["13 h", 4], ["1 d", 4]])");
  const Scenario scenario = small_with_failures(spot);
  const ReliabilityPrediction result = reliability(scenario, 2_s);
  const double cost = scenario.reliability->checkpoint.blocking.count();
  EXPECT_NEAR(result.young_interval.count(), std::sqrt(2.0 * cost * 43200.0), 1e-6);
}

TEST(Reliability, EveryProblemIsReported) {
  nlohmann::json wrong = weeks();
  wrong["duration"] = "1 d";
  wrong["checkpoint"]["interval"] = "dally";
  wrong["failures"][0].erase("repair_time");
  wrong["failures"][1]["repair_time"] = "1 d";
  wrong["failures"].push_back({{"cause", "x"},
                               {"of", "node"},
                               {"distribution", "empirical"},
                               {"times", {"-3 h", "4"}},
                               {"repair_time", "1 h"}});
  const std::string problems = reliability_problems(wrong);
  EXPECT_THAT(problems, HasSubstr("train_tokens and duration both say when the run ends"));
  EXPECT_THAT(problems, HasSubstr("\"dally\" is neither a time nor a way to find one"));
  EXPECT_THAT(problems, HasSubstr("repair_time"));
  EXPECT_THAT(problems, HasSubstr("nothing is repaired where no node is lost"));
  EXPECT_THAT(problems, HasSubstr("/reliability/failures/2/times/1"));
}

TEST(Reliability, WhatIsSureToBreakTooOftenIsRefusedAsItIsRead) {
  // Software that breaks every second breaks once a second but for the first: 50 million failures
  // in 50 histories are 1,000,001 s.
  nlohmann::json text = weeks();
  text["failures"] = {{{"cause", "bug"}, {"of", "software"}, {"mean_time", "1 s"}}};
  text.erase("train_tokens");
  text["duration"] = "1000000 s";
  EXPECT_EQ(reliability_problems(text), "none");
  text["duration"] = "1000002 s";
  EXPECT_THAT(reliability_problems(text), HasSubstr("/reliability/failures/0/mean_time"));
  text.erase("duration");
  // Of tokens it is the time that they take at the peak: 8 accelerators of 989 TFLOP/s do 1.3e7 a
  // second of a model with 1e8 parameters in its layers (8 x 12 x 1024^2), each 6 operations.
  text["train_tokens"] = 1e15;
  EXPECT_THAT(reliability_problems(text), HasSubstr("/reliability/failures/0/mean_time"));
  text["train_tokens"] = 1e9;
  EXPECT_EQ(reliability_problems(text), "none");
}

TEST(Reliability, AnAsynchronousCheckpointNeedsToKnowTheLinkToTheHost) {
  nlohmann::json text = weeks();
  text["checkpoint"]["asynchronous"] = true;
  text["checkpoint"]["snapshot_bandwidth"] = "20 GB/s";
  const CheckpointSettings read = small_with_failures(text).reliability->checkpoint;
  // Each of eight accelerators hands over an eighth.
  EXPECT_DOUBLE_EQ(read.blocking.count(), read.size.count() / 8.0 / 20e9);
  EXPECT_DOUBLE_EQ(read.persisting.count(), read.size.count() / 10e9);
  text["checkpoint"]["asynchronous"] = false;
  EXPECT_THAT(reliability_problems(text), HasSubstr("only an asynchronous checkpoint has this"));
}

/// Two spot nodes are taken back a day; the others break once in 25 days, of four nodes.
nlohmann::json warned(const char* notice) {
  nlohmann::json spot = weeks();
  spot["recovery"] = {{"method", "shrink"}};
  spot["spot_notice"] = notice;
  spot["availability"] = nlohmann::json::parse(
      R"([["0 s", 4], ["6 h", 3], ["7 h", 4], ["12 h", 2], ["13 h", 4], ["1 d", 4]])");
  spot["failures"] = {
      {{"cause", "node"}, {"of", "node"}, {"mean_time", "100 d"}, {"repair_time", "1 h"}}};
  return spot;
}

// Young: sqrt(2 c m) with m the mean time between what takes work back. A checkpoint takes c, less
// than a second.
TEST(Reliability, WhatIsWarnedOfInTimeAsksForNoCheckpoints) {
  const Scenario scenario = small_with_failures(warned("10 s"));
  const double cost = scenario.reliability->checkpoint.blocking.count();
  ASSERT_LT(cost, 10.0);
  const ReliabilityPrediction result = reliability(scenario, 2_s);
  EXPECT_NEAR(result.young_interval.count(), std::sqrt(2.0 * cost * 25.0 * 86400.0), 1e-6);
  // Too short a warning is none: 2 + 1 / 25 in a day.
  const ReliabilityPrediction sudden = reliability(small_with_failures(warned("1 ms")), 2_s);
  EXPECT_NEAR(sudden.young_interval.count(), std::sqrt(2.0 * cost * 86400.0 / 2.04), 1e-6);
}

// A checkpoint takes 25 s; no failure undoes more than the step under way.
TEST(Reliability, WhatIsGotOverInPlaceAsksForNoCheckpoints) {
  nlohmann::json soft = weeks();
  soft["recovery"] = {
      {"method", "drop_out"}, {"reconfigure", "30 s"}, {"state_bandwidth", "10 GB/s"}};
  soft["failures"] = {{{"cause", "bug"}, {"of", "software"}, {"mean_time", "5 h"}}};
  soft["checkpoint"] = {{"storage_bandwidth", "100 MB/s"}};
  const ReliabilityPrediction result = reliability(small_with_failures(soft), 2_s);
  EXPECT_EQ(result.interval_by, "daly");
  EXPECT_NEAR(result.checkpoint_interval.count(), 61036.0, 1.0);  // the run without failures
}

}  // namespace
}  // namespace headway
