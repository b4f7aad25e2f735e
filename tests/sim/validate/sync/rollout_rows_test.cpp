// Published steps of reinforcement learning, of which nothing was fitted: how far hardware's bound
// is from them, as results say it.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sim/validate/sync/sync_validation.h"

namespace headway {
namespace {

TEST(RolloutRows, TakeWhatResultsSayBesideThePrediction) {
  Diagnostics diagnostics;
  const SyncValidation validation =
      validate_sync({.path = "validation/published_rollouts.json", .id_prefixes = {}}, diagnostics);
  std::vector<double> longer;
  for (const PredictedSyncRow& row : validation.rows) {
    ASSERT_EQ(row.outcome.refused, "") << row.row.id;
    longer.push_back(1.0 / (1.0 + row.outcome.values.front().error()));
  }
  ASSERT_EQ(longer.size(), 10U);
  std::ranges::sort(longer);
  EXPECT_NEAR(longer[0], 0.9, 0.05);
  EXPECT_NEAR(longer[1], 1.1, 0.05);
  EXPECT_NEAR(0.5 * (longer[4] + longer[5]), 1.6, 0.05);
  EXPECT_NEAR(longer[9], 3.7, 0.05);
  // Which cluster, model and layout is faster.
  const SyncSummary& all = validation.summary.front();
  EXPECT_GE(all.ordered, 40U);
  EXPECT_EQ(all.pairs, 45U);
}

}  // namespace
}  // namespace headway
