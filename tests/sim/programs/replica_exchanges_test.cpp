// What replicas exchange of what they learned, in a program of one layer.
#include "sim/programs/replica_exchanges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tests/support/small_job.h"
#include "tests/support/synchronisation_reading.h"

namespace headway {
namespace {

/// Two islands of two replicas, which hold a layer of 1,000 parameters; what else is trained is the
/// embedding and the head of ten words.
struct IslandsOfTwo {
  SmallJob job{1, 10};

  IslandsOfTwo() {
    job.strategy.data_parallel = 4;
    job.strategy.synchronisation = synchronisation_of(
        R"({"scheme": "local_steps", "islands": 2, "every": 10, "fragments": 2, "bits": 16})");
    job.set_micro_batches(1);
  }
  [[nodiscard]] Program with(std::span<const ReplicaExchange> exchanges) const {
    JobShape shape = job.shape();
    shape.optimizer_seconds_per_parameter = 1e-3;
    shape.prices.emplace("average",
                         SmallJob::price(CollectiveKind::all_reduce, 2, {.rate_cap = 1_GBps}));
    Program program = pipeline_program(shape, 0);
    add_exchanges(program, shape, 0, exchanges);
    return program;
  }
  /// Without: what a pipeline's program is.
  [[nodiscard]] Program plain() const { return with({}); }
};

constexpr double kTrained = 1000.0 + 2.0 * 100.0;

TEST(ReplicaExchanges, ShareOutWhatAnIslandTrains) {
  const IslandsOfTwo islands;
  const ReplicaExchange average{
      .name = "average", .bits = 16.0, .pieces = 2, .times = 0.2, .updated_every = 10};
  const Program program = islands.with({&average, 1});
  // Half of the parameters each, in two pieces of 2 bytes an element, a fifth of one an iteration.
  EXPECT_NEAR(joined_bytes(program, "average"), 0.2 * kTrained / 2.0 / 2.0 * 2.0, 1e-9);
  const std::size_t before = islands.plain().operations.size();
  ASSERT_EQ(program.operations.size(), before + 3);
  EXPECT_EQ(program.operations[before].kind, OperationKind::join);
  EXPECT_EQ(program.operations[before + 1].kind, OperationKind::wait);
  // A tenth of an update of them.
  EXPECT_EQ(program.blocks.back().name, "outer optimizer");
  EXPECT_NEAR(program.blocks.back().time[Cause::optimizer].count(), kTrained / 2.0 / 10.0 * 1e-3,
              1e-12);
}

TEST(ReplicaExchanges, InsideAnIslandAreOfAllOfThem) {
  const IslandsOfTwo islands;
  const ReplicaExchange gather{
      .name = "average", .among = ExchangeAmong::island, .bits = 16.0, .times = 0.5};
  const Program program = islands.with({&gather, 1});
  EXPECT_NEAR(joined_bytes(program, "average"), 0.5 * kTrained * 2.0, 1e-9);
  EXPECT_EQ(program.operations.back().kind, OperationKind::wait);
}

TEST(ReplicaExchanges, BeginWhereAShareOfTheComputeIsDone) {
  // 1 s forward, 2 s backward: at two thirds of it the backward pass is half done, and is cut.
  const IslandsOfTwo islands;
  const ReplicaExchange early{.name = "average", .begin = 2.0 / 3.0};
  const Program program = islands.with({&early, 1});
  double before = 0.0;
  double behind = 0.0;
  bool has_joined = false;
  for (const Operation& operation : program.operations) {
    const bool is_average =
        operation.kind == OperationKind::join && operation.path == program.place_of("average");
    has_joined = has_joined || is_average;
    if (operation.kind != OperationKind::compute) continue;
    const double seconds =
        program.blocks[static_cast<std::size_t>(operation.block)].time.total().count();
    (has_joined ? behind : before) += seconds;
  }
  const double all = islands.plain().nominal_work().count();
  EXPECT_NEAR(before, all * 2.0 / 3.0, 1e-9);
  EXPECT_NEAR(behind, all / 3.0, 1e-9);
}

TEST(ReplicaExchanges, OfLocalStepsAreAnAverageAndItsGather) {
  const IslandsOfTwo islands;
  const Strategy& strategy = islands.job.strategy;
  const std::vector<ReplicaExchange> all = strategy.synchronisation->exchanges(strategy);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].among, ExchangeAmong::islands);
  EXPECT_EQ(all[0].bits, 16.0);
  EXPECT_EQ(all[0].pieces, 2);
  EXPECT_DOUBLE_EQ(all[0].times, 0.2);
  EXPECT_EQ(all[0].updated_every, 10);
  EXPECT_EQ(all[1].among, ExchangeAmong::island);
  EXPECT_EQ(all[1].kind, CollectiveKind::all_gather);
  EXPECT_DOUBLE_EQ(all[1].times, 0.2);
  EXPECT_EQ(all[1].updated_every, 0);
  // Sharded states need no gather of their own, nor does an island of one.
  Strategy sharded = strategy;
  sharded.sharding = Sharding::full;
  EXPECT_EQ(sharded.synchronisation->exchanges(sharded).size(), 1U);
  Strategy single = strategy;
  single.data_parallel = 2;
  EXPECT_EQ(single.synchronisation->exchanges(single).size(), 1U);
  single.data_parallel = 1;
  EXPECT_TRUE(single.synchronisation->exchanges(single).empty());
}

}  // namespace
}  // namespace headway
