// Problems of embedding tables, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::problems;
using testing::read_strategy_text;

constexpr const char* kDlrm = R"("model": {"family": "dlrm", "table_rows": [100, 200, 300]})";

TEST(EmbeddingTables, StandWholeOnRanksWhereNobodySaysMore) {
  const auto reading = read_strategy_text(kDlrm, R"(    "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  EXPECT_EQ(reading.read->strategy.tables.placement, TablePlacement::table);
}

TEST(EmbeddingTables, OfAPresetMayBeChanged) {
  const auto reading = read_strategy_text(kDlrm, R"(    "preset": "hugectr",
    "embedding_tables": {"group": 8},
    "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  EXPECT_EQ(reading.read->strategy.tables.placement, TablePlacement::balanced);
  EXPECT_EQ(reading.read->strategy.tables.group, 8);
}

TEST(StrategyProblem, GroupsOfTablesDivideTheRanks) {
  EXPECT_EQ(problems(kDlrm, R"(    "embedding_tables": {"group": 3},
    "global_batch": 64)",
                     64),
            R"(error: embedding_tables.group must divide data_parallel
  --> scenario.json:4:25   /strategy/embedding_tables
   |
 4 |     "embedding_tables": {"group": 3},
   |                         ^ groups of 3 among 64 ranks
  help: use 2 or 4
)");
}

TEST(StrategyProblem, TablesThatRanksShareStandOnOneStage) {
  EXPECT_EQ(problems(kDlrm, R"(    "pipeline_parallel": 2,
    "global_batch": 64)"),
            R"(error: pipeline_parallel does not go with tables that ranks share
  --> scenario.json:4:26   /strategy/pipeline_parallel
   |
 4 |     "pipeline_parallel": 2,
   |                          ^ rows would have to be updated while later samples look them up
  help: set pipeline_parallel to 1
)");
}

}  // namespace
}  // namespace headway
