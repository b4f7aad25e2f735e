// What optimizers keep of a parameter, and move.
#include "sim/jobs/optimizers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sim/base/diagnostic.h"
#include "sim/jobs/memory.h"
#include "sim/jobs/stage_parameters.h"
#include "tests/sim/jobs/sample_models.h"
#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

const Optimizer& optimizer(std::string_view name) {
  return *std::ranges::find(optimizers(), name, &Optimizer::name);
}

TEST(Optimizers, HaveNamesOfTheirOwnAndSources) {
  std::set<std::string_view> names;
  for (const Optimizer& each : optimizers()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_FALSE(each.what.empty() || each.source.empty()) << each.name;
  }
  EXPECT_EQ(optimizers().front().name, "adam");
  EXPECT_FALSE(optimizers().front().traffic);
}

// Gradients and copies in 16 bits; the weight is read and written, 8 bytes.
TEST(Optimizers, MoveWhatTheirAlgorithmsRead) {
  const auto bytes = [](std::string_view name) { return update_bytes(optimizer(name), 2.0, 2.0); };
  EXPECT_DOUBLE_EQ(bytes("sgd"), 2.0 + 8.0 + 2.0);
  EXPECT_DOUBLE_EQ(bytes("momentum"), 2.0 + 8.0 + 8.0 + 2.0);
  EXPECT_DOUBLE_EQ(bytes("lars"), 2 * 2.0 + 4.0 + 8.0 + 8.0 + 2.0);  // norms of both first
  EXPECT_DOUBLE_EQ(bytes("adagrad"), 2.0 + 8.0 + 8.0 + 4.0 + 2.0);   // the weight again
  EXPECT_DOUBLE_EQ(bytes("adafactor"), 3 * 2.0 + 8.0 + 2.0);
  EXPECT_DOUBLE_EQ(bytes("muon"), 2.0 + 8.0 + 8.0 + 4.0 + 2.0);
  EXPECT_NEAR(bytes("adam_8bit"), 2.0 + 4.0 + 8.0 + 2.0, 0.01);
  // In fp32 there is no copy.
  EXPECT_DOUBLE_EQ(update_bytes(optimizer("sgd"), 4.0, 0.0), 4.0 + 8.0);
  EXPECT_THROW(static_cast<void>(bytes("adam")), InternalError);
}

TEST(Optimizers, MoveAtLeastWhatTheyKeep) {
  for (const Optimizer& each : optimizers()) {
    if (!each.traffic) continue;
    EXPECT_GE(each.traffic->own, 2.0 * each.state_bytes) << each.name;
  }
}

TEST(Optimizers, LeaveTheEndsToAdamWhereTheyAreForMatrices) {
  EXPECT_EQ(beside(optimizer("muon")).name, "adam");
  EXPECT_EQ(beside(optimizer("lion")).name, "lion");
}

TEST(Optimizers, DecideWhatMemoryHolds) {
  const Model llama = testing::llama(32, 4096, 32, 8, 14'336);
  Strategy strategy{.global_batch = 64, .sequence_length = 8192};
  const StageParameters parameters = stage_parameters(llama, strategy, 0);
  const double ends = parameters.embedding + parameters.head;
  const auto bytes = [&](std::string_view name) {
    strategy.optimizer = &optimizer(name);
    return stage_memory(llama, strategy).front().optimizer.count();
  };
  EXPECT_DOUBLE_EQ(bytes("adam"), 12.0 * parameters.total());
  EXPECT_DOUBLE_EQ(bytes("sgd"), 4.0 * parameters.total());
  EXPECT_DOUBLE_EQ(bytes("lion"), 8.0 * parameters.total());
  EXPECT_DOUBLE_EQ(bytes("muon"), 8.0 * parameters.layers + 12.0 * ends);
  strategy.sharding = Sharding::optimizer;
  strategy.data_parallel = 8;
  EXPECT_DOUBLE_EQ(bytes("muon"), (8.0 * parameters.layers + 12.0 * ends) / 8.0);
  // Weights in fp32 need no copy; what the software keeps is what it says.
  strategy.precision = Precision::fp32;
  EXPECT_DOUBLE_EQ(bytes("sgd"), 0.0);
  strategy.memory.optimizer_state_bytes = 6.0;
  EXPECT_DOUBLE_EQ(bytes("muon"), 6.0 / 8.0 * parameters.total());
}

/// What a job by that preset keeps of a parameter.
double states_of(const std::string& fields) {
  const auto reading =
      testing::read_strategy_text(testing::kLlama3, R"("global_batch": 8, )" + fields);
  EXPECT_TRUE(reading.read.has_value()) << reading.problems;
  return reading.read->strategy.memory.optimizer_state_bytes;
}

TEST(Optimizers, OfWeightsInHalvesKeepHalves) {
  const std::string halves = R"("preset": "transformers-bf16", "optimizer": )";
  EXPECT_EQ(states_of(halves + R"("adam")"), 4.0);
  EXPECT_EQ(states_of(halves + R"("lion")"), 2.0);
  EXPECT_EQ(states_of(halves + R"("sgd")"), 0.0);
  EXPECT_EQ(states_of(halves + R"("adam_8bit")"), 2.0 * (1.0 + 4.0 / 2048.0));
  EXPECT_EQ(states_of(halves + R"("muon")"), 4.0);  // Adam stands beside it
  EXPECT_EQ(states_of(halves + R"("lion", "memory": {"optimizer_state_bytes": 4})"), 4.0);
  EXPECT_EQ(states_of(R"("preset": "transformers", "optimizer": "lion")"), -1.0);
}

}  // namespace
}  // namespace headway
