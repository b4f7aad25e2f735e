// Jobs of many kinds of models on one H100 and one H200, to whose times nothing was fitted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "sim/validate/sync/sync_validation.h"

namespace headway {
namespace {

SyncValidation measured_jobs(const std::string& file) {
  Diagnostics diagnostics;
  return validate_sync({.path = "validation/" + file, .id_prefixes = {}}, diagnostics);
}

struct MeanErrors {
  double time = 0.0;
  double memory = 0.0;
  std::size_t rows = 0;
};

MeanErrors mean_errors(const std::string& file) {
  MeanErrors mean;
  int memories = 0;
  for (const PredictedSyncRow& row : measured_jobs(file).rows) {
    EXPECT_EQ(row.outcome.refused, "") << row.row.id;
    for (const ComparedValue& value : row.outcome.values) {
      EXPECT_LT(std::abs(value.error()), 0.4) << row.row.id << ", " << value.what;
      const bool is_memory = value.what == "memory, GiB";
      memories += is_memory ? 1 : 0;
      (is_memory ? mean.memory : mean.time) += std::abs(value.error());
    }
    ++mean.rows;
  }
  mean.time /= static_cast<double>(mean.rows);
  mean.memory /= memories;
  return mean;
}

TEST(MeasuredJobRows, ArePredictedAsTheReadmeSays) {
  const MeanErrors h100 = mean_errors("measured_jobs.json");
  EXPECT_EQ(h100.rows, 50U);
  EXPECT_NEAR(h100.time, 0.07, 0.01);
  EXPECT_NEAR(h100.memory, 0.06, 0.01);
  const MeanErrors h200 = mean_errors("measured_jobs_h200.json");
  EXPECT_EQ(h200.rows, 52U);
  EXPECT_NEAR(h200.time, 0.07, 0.01);
  EXPECT_NEAR(h200.memory, 0.06, 0.01);
}

/// Mixtures, packed documents, 8 bits and Muon on decoders, which the constants are founded on.
TEST(MeasuredJobRows, OfDecodersAreWithinTenPercent) {
  int decoders = 0;
  for (const char* file : {"measured_jobs.json", "measured_jobs_h200.json"}) {
    for (const PredictedSyncRow& row : measured_jobs(file).rows) {
      for (const char* name : {"qwen3", "mixtral", "packed", "fp8", "muon"}) {
        if (!row.row.id.starts_with(name)) continue;
        EXPECT_LT(std::abs(row.outcome.values.front().error()), 0.10) << row.row.id;
        ++decoders;
      }
    }
  }
  EXPECT_EQ(decoders, 12);
}

/// What operators of transformers move is counted, and nothing is fitted.
TEST(MeasuredJobRows, OfDenseDecodersOfTransformersAreCounted) {
  const auto errors_on = [](const char* file) {
    std::vector<double> errors;
    for (const PredictedSyncRow& row : measured_jobs(file).rows) {
      const std::string& id = row.row.id;
      const bool is_dense = id.starts_with("hf-llama-2-7b") || id.starts_with("hf-llama-3-8b-4x") ||
                            id.starts_with("hf-qwen2-7b") || id == "hf-llama-3.2-1b-16x-2048-4";
      if (!is_dense || id.ends_with("-compiled")) continue;
      errors.push_back(std::abs(row.outcome.values.front().error()));
    }
    return errors;
  };
  using testing::Each;
  using testing::Le;
  EXPECT_THAT(errors_on("measured_jobs.json"), testing::AllOf(testing::SizeIs(6), Each(Le(0.02))));
  EXPECT_THAT(errors_on("measured_jobs_h200.json"),
              testing::AllOf(testing::SizeIs(6), Each(Le(0.06))));
}

/// Captured, a step is what its kernels take, as a whole or layer by layer: a third of what the
/// host needs to issue them.
TEST(MeasuredJobRows, OfCapturedStepsAreWhatKernelsTake) {
  int captured = 0;
  for (const char* file : {"measured_jobs.json", "measured_jobs_h200.json"}) {
    for (const PredictedSyncRow& row : measured_jobs(file).rows) {
      if (row.row.id.find("captured") == std::string::npos) continue;
      EXPECT_LT(std::abs(row.outcome.values.front().error()), 0.25) << row.row.id;
      ++captured;
    }
  }
  EXPECT_EQ(captured, 4);
}

}  // namespace
}  // namespace headway
