// Jobs of many kinds of models on one H100, of which nothing was fitted.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sim/validate/sync/sync_validation.h"

namespace headway {
namespace {

SyncValidation measured_jobs() {
  Diagnostics diagnostics;
  return validate_sync({.path = "validation/measured_jobs.json", .id_prefixes = {}}, diagnostics);
}

TEST(MeasuredJobRows, ArePredictedAsTheReadmeSays) {
  const SyncValidation validation = measured_jobs();
  ASSERT_EQ(validation.rows.size(), 25U);
  int steps = 0;
  double sum = 0.0;
  for (const PredictedSyncRow& row : validation.rows) {
    ASSERT_EQ(row.outcome.refused, "") << row.row.id;
    for (const ComparedValue& value : row.outcome.values) {
      EXPECT_LT(std::abs(value.error()), 0.3) << row.row.id << ", " << value.what;
      if (value.what == "memory, GiB") continue;
      ++steps;
      sum += std::abs(value.error());
    }
  }
  EXPECT_EQ(steps, 25);
  EXPECT_NEAR(sum / steps, 0.10, 0.01);
}

/// Mixtures, packed documents, 8 bits and Muon on decoders, which the constants are founded on.
TEST(MeasuredJobRows, OfDecodersAreWithinTenPercent) {
  int decoders = 0;
  for (const PredictedSyncRow& row : measured_jobs().rows) {
    for (const char* name : {"qwen3", "mixtral", "packed", "fp8", "muon"}) {
      if (!row.row.id.starts_with(name)) continue;
      EXPECT_LT(std::abs(row.outcome.values.front().error()), 0.10) << row.row.id;
      ++decoders;
    }
  }
  EXPECT_EQ(decoders, 6);
}

}  // namespace
}  // namespace headway
