#include "sim/result/prediction_bytes.h"

#include <gtest/gtest.h>

#include <limits>

#include "sim/result/json/result_json.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

/// What another process gets of it.
Prediction sent(const Prediction& prediction) {
  ByteWriter writer;
  put_prediction(writer, prediction);
  const std::string bytes = writer.take();
  ByteReader reader(bytes);
  return get_prediction(reader);
}

/// With every part that a prediction can have.
Prediction full_prediction() {
  Prediction p = sample_prediction();
  p.anchor = {.steps = {{"lab", 5.3_s, 5.0_s, 1.071}},
              .software_factor = 1.071,
              .time_without = 8.2_s,
              .interval_without = {7.1, 9.5}};
  p.activity = {.kinds = {"forward"}, .rows = {{"stage 0", {{0, 0_s, 0.2_s}}}}};
  p.warnings = {"a warning"};
  p.what_if = {.time = 6.94_s,
               .ideal = 6.5_s,
               .accelerators = 1024,
               .removals = {{RemovalKind::node, "node 3", 6.6_s, 0.34_s}},
               .slowest_stage = 1,
               .stage_imbalance = 1.07,
               .sensitivities = {{"latency", "half the latency", 6.9_s, 1.005}},
               .mitigations = {{"spare_nodes", "a spare", 6.6_s, 1.05}}};
  p.fabric = {.tiers = {{"NIC ports", 16}, {"leaf switches", 2}},
              .cables = {{.lower = 0, .upper = 1, .cables = 16, .up = {5_GB, 800_GBps, 0.25, 0.5}}}};
  p.reliability.emplace();
  p.reliability->runs = 2;
  p.reliability->time_to_train_s = {1.0, std::numeric_limits<double>::infinity()};
  p.reliability->lost_gpu_hours = {{"restart", 2.5}, {"lost_work", 1.5}};
  p.shared_fabric = {{{.job = "a", .to = 7.0, .accelerators = 8, .alone = 2_s, .shared = 3_s},
                      {.job = "b", .accelerators = 8, .alone = 2_s, .shared = 2_s}}};
  return p;
}

TEST(PredictionBytes, EveryPartArrives) {
  const Prediction p = full_prediction();
  const Prediction back = sent(p);
  EXPECT_EQ(result_json_text(back), result_json_text(p));
  // what the document does not hold
  EXPECT_EQ(back.what_if->accelerators, 1024);
  EXPECT_EQ(back.reliability->time_to_train_s, p.reliability->time_to_train_s);
}

TEST(PredictionBytes, NumbersArriveToTheLastBit) {
  Prediction p;
  p.iteration_time = Seconds(0.1 + 0.2);
  p.mfu = std::numeric_limits<double>::denorm_min();
  p.iteration_interval = {-0.0, std::numeric_limits<double>::infinity()};
  const Prediction back = sent(p);
  EXPECT_EQ(back.iteration_time, p.iteration_time);
  EXPECT_EQ(back.mfu, p.mfu);
  EXPECT_TRUE(std::signbit(back.iteration_interval.low));
  EXPECT_EQ(back.iteration_interval.high, p.iteration_interval.high);
}

TEST(PredictionBytes, WhatIsMissingStaysMissing) {
  const Prediction back = sent(Prediction{});
  EXPECT_FALSE(back.scaling || back.anchor || back.what_if || back.reliability ||
               back.shared_fabric);
  EXPECT_TRUE(back.memory.stages.empty());
}

TEST(PredictionBytes, FewerBytesThanWereWrittenAreABug) {
  ByteWriter writer;
  put_prediction(writer, full_prediction());
  const std::string bytes = writer.take();
  ByteReader reader(std::string_view(bytes).substr(0, bytes.size() - 1));
  EXPECT_THROW(static_cast<void>(get_prediction(reader)), InternalError);
}

}  // namespace
}  // namespace headway
