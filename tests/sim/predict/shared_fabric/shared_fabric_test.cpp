#include "sim/predict/shared_fabric/shared_fabric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/shared_leaf.h"

namespace headway {
namespace {

SharedFabric with_job(const nlohmann::json& job) {
  nlohmann::json text = shared_leaf_scenario();
  text["jobs"] = nlohmann::json::array({job});
  return shared_fabric(scenario_of(text), 1);
}

TEST(SharedFabric, JobsThatShareALeafSlowEachOtherDown) {
  const SharedFabric shared = with_job(neighbour());
  ASSERT_EQ(shared.stays.size(), 2U);
  for (const SharedFabric::Stay& stay : shared.stays) {
    EXPECT_GT(stay.slowdown(), 1.02) << stay.job;
    EXPECT_LT(stay.slowdown(), 2.0) << stay.job;  // half of one link, for a part of the time
    EXPECT_TRUE(std::isinf(stay.to));
    EXPECT_EQ(stay.accelerators, 6);
  }
  // Mirror images of each other.
  EXPECT_NEAR(shared.stays[0].shared / shared.stays[1].shared, 1.0, 0.01);
}

TEST(SharedFabric, JobsThatShareNoLinkLeaveEachOtherAlone) {
  nlohmann::json text = shared_leaf_scenario();
  text["cluster"]["topology"]["fabric"] = {{"kind", "single_switch"}};
  text["jobs"] = nlohmann::json::array({neighbour()});
  for (const SharedFabric::Stay& stay : shared_fabric(scenario_of(text), 1).stays) {
    EXPECT_NEAR(stay.slowdown(), 1.0, 1e-12) << stay.job;
  }
}

TEST(SharedFabric, JobsJoinLeaveAndAreGivenOtherNodes) {
  nlohmann::json guest = neighbour("guest");
  guest["first_node"] = 3;
  guest["strategy"]["global_batch"] = 12;
  guest["sizes"] = {
      {{"at", "1 h"}, {"nodes", 3}}, {{"at", "2 h"}, {"nodes", 1}}, {{"at", "4 h"}, {"nodes", 0}}};
  const SharedFabric shared = with_job(guest);
  // The own job in four stretches of time, the guest in two of them.
  ASSERT_EQ(shared.stays.size(), 6U);
  const auto expect = [&](std::size_t i, const char* job, double from, double to, int gpus) {
    EXPECT_EQ(shared.stays[i].job, job);
    EXPECT_EQ(shared.stays[i].from, 3600.0 * from);
    EXPECT_EQ(shared.stays[i].to, 3600.0 * to);
    EXPECT_EQ(shared.stays[i].accelerators, gpus);
  };
  expect(0, "this job", 0, 1, 6);
  expect(1, "this job", 1, 2, 6);
  expect(2, "guest", 1, 2, 6);
  expect(3, "this job", 2, 4, 6);
  expect(4, "guest", 2, 4, 2);
  expect(5, "this job", 4, std::numeric_limits<double>::infinity(), 6);
  EXPECT_EQ(shared.stays[0].slowdown(), 1.0);
  EXPECT_GT(shared.stays[1].slowdown(), 1.02);
  // On a single node the guest sends nothing over the leaf.
  EXPECT_NEAR(shared.stays[3].slowdown(), 1.0, 1e-12);
  EXPECT_NEAR(shared.stays[4].slowdown(), 1.0, 1e-12);
}

TEST(SharedFabric, TotalsWeighStaysByWhatWouldHaveBeenDone) {
  // 100 s at full speed and 100 s at half: 10 + 5 of 20 iterations that could have been, of 4
  // samples.
  const SharedFabric shared{
      {{.job = "a", .from = 0.0, .to = 100.0, .alone = 10_s, .shared = 10_s, .samples = 4.0},
       {.job = "b", .from = 0.0, .alone = 2_s, .shared = 3_s, .samples = 1.0},
       {.job = "a", .from = 100.0, .to = 200.0, .alone = 10_s, .shared = 20_s, .samples = 4.0}}};
  const std::vector<SharedFabric::Total> totals = shared.totals();
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_DOUBLE_EQ(totals[0].samples, 60.0);
  EXPECT_DOUBLE_EQ(totals[0].slowdown, 20.0 / 15.0);
  EXPECT_DOUBLE_EQ(totals[1].slowdown, 1.5);  // for ever
}

TEST(SharedFabric, ARunIsAsSlowAsTheStretchesThatItGoesThrough) {
  // 100 s alone, 100 s in which half is done, then alone for ever.
  SharedFabric shared{{{.job = "a", .from = 0.0, .to = 100.0, .alone = 10_s, .shared = 10_s},
                       {.job = "a", .from = 100.0, .to = 200.0, .alone = 10_s, .shared = 20_s},
                       {.job = "b", .from = 100.0, .to = 200.0, .alone = 1_s, .shared = 1_s},
                       {.job = "a", .from = 200.0, .alone = 10_s, .shared = 10_s}}};
  EXPECT_DOUBLE_EQ(shared.slowdown_over(50_s), 1.0);
  EXPECT_DOUBLE_EQ(shared.slowdown_over(120_s), 140.0 / 120.0);
  EXPECT_DOUBLE_EQ(shared.slowdown_over(300_s), 350.0 / 300.0);
  constexpr Seconds kForever(std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(shared.slowdown_over(kForever), 200.0 / 150.0);
  shared.stays.push_back({.job = "c", .from = 200.0, .alone = 1_s, .shared = 1_s});
  shared.stays[3].shared = 30_s;
  EXPECT_DOUBLE_EQ(shared.slowdown_over(kForever), 3.0);
}

TEST(SharedFabric, WhatIsPredictedIsTheJobBesideTheOthers) {
  nlohmann::json text = shared_leaf_scenario();
  const Prediction alone = simulate(scenario_of(text), {}).prediction;
  text["jobs"] = nlohmann::json::array({neighbour()});
  const Prediction beside = simulate(scenario_of(text), {}).prediction;
  const double slowdown = beside.shared_fabric->stays.front().slowdown();
  EXPECT_GT(slowdown, 1.02);
  EXPECT_DOUBLE_EQ(beside.shared_fabric->slowdown, slowdown);
  EXPECT_DOUBLE_EQ(beside.iteration_time / alone.iteration_time, slowdown);
  EXPECT_DOUBLE_EQ(alone.throughput() / beside.throughput(), slowdown);
  EXPECT_DOUBLE_EQ(beside.breakdown.total().count(), beside.iteration_time.count());
  EXPECT_DOUBLE_EQ(beside.iteration_interval.low, slowdown * alone.iteration_interval.low);
  EXPECT_DOUBLE_EQ(beside.confidence.with_measured_step.high,
                   slowdown * alone.confidence.with_measured_step.high);
  EXPECT_DOUBLE_EQ(beside.scaling->efficiency, alone.scaling->efficiency);
}

}  // namespace
}  // namespace headway
