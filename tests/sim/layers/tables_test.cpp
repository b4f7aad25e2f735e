// Embedding tables over ranks, added up by hand.
#include "sim/layers/tables.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/layers/parameters.h"

namespace headway {
namespace {

/// Rows of 4 elements (16 B): a table that each sample looks up three times, and two of one lookup.
Layer bags() {
  Layer layer{.name = "bags"};
  layer.tables = {{1000.0, 4.0, 3.0}, {1000.0, 4.0, 1.0}, {10.0, 4.0, 1.0}};
  return layer;
}

/// Two ranks of 8 samples each, which add up no cost of exchanges.
RankShape two_ranks(TablePlacement placement) {
  return {
      .micro_batch = 8.0,
      .tables = {.placement = placement, .exchange_cost = 0.0, .optimizer = TableOptimizer::sgd},
      .table_ranks = 2.0};
}

// Costs of 12, 4 and 4: the first stands alone, the others together.
TEST(Tables, TheCostliestStandWhereThereIsLeastToDo) {
  const RankTables tables = tables_on_rank(bags(), two_ranks(TablePlacement::table));
  EXPECT_DOUBLE_EQ(tables.placed, 4040.0);
  EXPECT_DOUBLE_EQ(tables.replicated, 0.0);
  EXPECT_DOUBLE_EQ(tables.pooled, 8.0);
  // 16 samples of 3 rows of 16 B, pooled to 4 elements of 2 B.
  EXPECT_DOUBLE_EQ(tables.forward.count(), 16.0 * (3.0 * 16.0 + 8.0));
  // Backward a pooled gradient and 64 B of sorting for each of 48 lookups; of 1,000 rows
  // 1000 (1 - e^(-48/1000)) are met, read and written.
  const double met = 1000.0 * (1.0 - std::exp(-0.048));
  EXPECT_NEAR(tables.backward.count(), 48.0 * (8.0 + 64.0) + 2.0 * met * 16.0, 1e-9);
}

TEST(Tables, ATableMayBeCutByRows) {
  const RankTables tables = tables_on_rank(bags(), two_ranks(TablePlacement::row));
  EXPECT_DOUBLE_EQ(tables.placed, 2010.0 * 4.0 / 2.0);
  EXPECT_DOUBLE_EQ(tables.pooled, 12.0);
  // Each rank has half of 5 lookups, and pools a part for every sample and table.
  EXPECT_DOUBLE_EQ(tables.forward.count(), 16.0 * (2.5 * 16.0 + 3.0 * 8.0));
  const TableMessages messages = table_messages(bags(), two_ranks(TablePlacement::row));
  EXPECT_DOUBLE_EQ(messages.summed.count(), 16.0 * 12.0 * 2.0);
  EXPECT_EQ(messages.swapped, Bytes(0.0));
}

TEST(Tables, ATableMayBeCutByColumns) {
  const RankTables tables = tables_on_rank(bags(), two_ranks(TablePlacement::column));
  EXPECT_DOUBLE_EQ(tables.placed, 2010.0 * 2.0);
  EXPECT_DOUBLE_EQ(tables.pooled, 6.0);
  EXPECT_DOUBLE_EQ(tables.forward.count(), 16.0 * (5.0 * 8.0 + 3.0 * 4.0));
}

// Of 20 lookups x elements each rank should have 10: the first table in two parts of 6, and a
// small one beside each.
TEST(Tables, AreBalancedByCuttingCostlyOnes) {
  const RankTables tables = tables_on_rank(bags(), two_ranks(TablePlacement::balanced));
  EXPECT_DOUBLE_EQ(tables.forward.count(), 16.0 * (2.5 * 16.0 + 2.0 * 8.0));
  EXPECT_DOUBLE_EQ(tables.pooled, 8.0);
  EXPECT_DOUBLE_EQ(tables.placed, 2000.0 + 4000.0);
}

// An exchange that costs as much as ten lookups is not worth a cut.
TEST(Tables, AreNotCutWhereExchangesCostMore) {
  RankShape shape = two_ranks(TablePlacement::balanced);
  shape.tables.exchange_cost = 10.0;
  EXPECT_DOUBLE_EQ(tables_on_rank(bags(), shape).placed, 4040.0);
}

TEST(Tables, SmallOnesMayStandOnEveryRank) {
  RankShape shape = two_ranks(TablePlacement::table);
  shape.tables.replicated_below = Bytes(161.0);
  const RankTables tables = tables_on_rank(bags(), shape);
  EXPECT_DOUBLE_EQ(tables.replicated, 40.0);
  EXPECT_DOUBLE_EQ(tables.placed, 4000.0);
  const Parameters parameters = parameters_on_rank(bags(), shape);
  EXPECT_DOUBLE_EQ(parameters.shared(), 40.0);
  EXPECT_DOUBLE_EQ(parameters.tables(), 4000.0);
  shape.tables.replicated_below = Bytes(160.0);  // 10 rows of 4 elements in fp32
  EXPECT_DOUBLE_EQ(tables_on_rank(bags(), shape).replicated, 0.0);
}

TEST(Tables, AllOnEveryRankExchangeNothing) {
  const RankShape shape = two_ranks(TablePlacement::replicated);
  EXPECT_DOUBLE_EQ(tables_on_rank(bags(), shape).replicated, 8040.0);
  EXPECT_EQ(table_messages(bags(), shape).swapped, Bytes(0.0));
  EXPECT_EQ(table_messages(bags(), shape).summed, Bytes(0.0));
}

// The rank with two tables sends 8 elements for each of 16 samples; every rank receives 12 for each
// of its 8, which is less.
TEST(Tables, AreExchangedAtThePaceOfTheBusiest) {
  const TableMessages messages = table_messages(bags(), two_ranks(TablePlacement::table));
  EXPECT_DOUBLE_EQ(messages.swapped.count(), 16.0 * 8.0 * 2.0);
  EXPECT_EQ(messages.summed, Bytes(0.0));
}

// Two groups of two: a group pools the same parts, which are added up before a rank sends half.
TEST(Tables, GroupsAddUpBeforeTheySend) {
  RankShape shape = two_ranks(TablePlacement::table);
  shape.table_ranks = 4.0;
  shape.tables.group = 2;
  const TableMessages messages = table_messages(bags(), shape);
  EXPECT_DOUBLE_EQ(messages.summed.count(), 32.0 * 8.0 * 2.0);
  EXPECT_DOUBLE_EQ(messages.swapped.count(), 32.0 * 8.0 * 2.0 / 2.0);
  EXPECT_DOUBLE_EQ(tables_on_rank(bags(), shape).placed, 4040.0 / 2.0);
}

TEST(Tables, KeepTheStatesOfTheirOptimizer) {
  RankShape shape = two_ranks(TablePlacement::table);
  const auto states = [&](TableOptimizer optimizer) {
    shape.tables.optimizer = optimizer;
    return tables_on_rank(bags(), shape).states;
  };
  EXPECT_DOUBLE_EQ(states(TableOptimizer::sgd), 0.0);
  EXPECT_DOUBLE_EQ(states(TableOptimizer::rowwise_adagrad), 1010.0);
  EXPECT_DOUBLE_EQ(states(TableOptimizer::adagrad), 4040.0);
  EXPECT_DOUBLE_EQ(states(TableOptimizer::adam), 8080.0);
}

// Each rank looks up its own 8 samples: 5 rows of 16 B and three results of 8 B; backward gradients
// of 8 B and sorting of 64 B for each of 40 lookups, and what is touched is written as a sum.
TEST(Tables, OnEveryRankAreLookedUpForItsOwnSamples) {
  const RankTables tables = tables_on_rank(bags(), two_ranks(TablePlacement::replicated));
  EXPECT_DOUBLE_EQ(tables.forward.count(), 8.0 * (5.0 * 16.0 + 3.0 * 8.0));
  const auto met = [](double rows, double lookups) {
    return rows * (1.0 - std::exp(-lookups / rows));
  };
  EXPECT_NEAR(tables.backward.count(),
              40.0 * (8.0 + 64.0) + 16.0 * (met(1000, 24) + met(1000, 8) + met(10, 8)), 1e-9);
}

// Three tables of equal cost on two ranks: the two largest apart, and the smallest beside the
// smaller of them.
TEST(Tables, OfEqualCostAreSharedOutByTheirSize) {
  Layer layer;
  layer.tables = {{100.0, 4.0, 1.0}, {300.0, 4.0, 1.0}, {200.0, 4.0, 1.0}};
  const RankTables tables = tables_on_rank(layer, two_ranks(TablePlacement::table));
  EXPECT_DOUBLE_EQ(tables.placed, 4.0 * 300.0);
  // By all that they hold, not by their rows: 800, 600 and 500 numbers.
  layer.tables = {{100.0, 8.0, 1.0}, {150.0, 4.0, 2.0}, {125.0, 4.0, 2.0}};
  EXPECT_DOUBLE_EQ(tables_on_rank(layer, two_ranks(TablePlacement::table)).placed, 1100.0);
}

// Half of the 48 lookups of 16 samples are of one popular row again: rows are read and met half as
// often, gradients of 8 B and sorting of 64 B are of each.
TEST(Tables, ReadPopularRowsOnce) {
  Layer layer;
  layer.tables = {{1000.0, 4.0, 3.0, 0.5}};
  const RankTables tables = tables_on_rank(layer, two_ranks(TablePlacement::table));
  EXPECT_DOUBLE_EQ(tables.forward.count(), 24.0 * 16.0 + 16.0 * 8.0);
  const double met = 1000.0 * (1.0 - std::exp(-0.024));
  EXPECT_NEAR(tables.backward.count(), 48.0 * (8.0 + 64.0) + 2.0 * met * 16.0, 1e-9);
}

// Rows that are met are read and written with their states: of 4 numbers 16 B, and one a row.
TEST(Tables, UpdateStatesWithTheirRows) {
  RankShape shape = two_ranks(TablePlacement::table);
  const double met = 1000.0 * (1.0 - std::exp(-0.048));
  const auto more = [&](TableOptimizer optimizer) {
    shape.tables.optimizer = optimizer;
    return tables_on_rank(bags(), shape).backward.count() - 48.0 * (8.0 + 64.0);
  };
  EXPECT_NEAR(more(TableOptimizer::rowwise_adagrad), 2.0 * met * (16.0 + 4.0), 1e-9);
  EXPECT_NEAR(more(TableOptimizer::adagrad), 2.0 * met * (16.0 + 16.0), 1e-9);
  EXPECT_NEAR(more(TableOptimizer::adam), 2.0 * met * (16.0 + 32.0), 1e-9);
}

}  // namespace
}  // namespace headway
