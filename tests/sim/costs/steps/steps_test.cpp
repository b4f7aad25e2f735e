#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"
#include "sim/costs/steps/read_steps.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

TEST(ComputeFactor, IsTheSameForTheSameRankAndStepOnly) {
  TrainingStep step;
  EXPECT_EQ(compute_factor(step, 0, 0), 1.0);
  step.jitter = 0.2;
  EXPECT_EQ(compute_factor(step, 1, 2), compute_factor(step, 1, 2));
  EXPECT_NE(compute_factor(step, 1, 2), compute_factor(step, 2, 2));
  double mean = 0.0;
  for (int i = 0; i < 10000; ++i) mean += compute_factor(step, 0, i) / 10000.0;
  EXPECT_NEAR(mean, 1.2, 3.0 * 0.2 / 100.0);  // sigma of the mean: 0.2 / sqrt(10000)
}

TEST(Steps, AreReadWithDefaults) {
  const ScratchFolder folder;
  const auto steps = read_steps(folder.write("steps.json",
                                             R"({"schema": "headway/steps/1", "steps": [{"id": "a"},
         {"id": "b", "overlap": true, "pipeline_stages": 2, "micro_batches": 4}]})"));
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_FALSE(steps[0].overlap);
  EXPECT_EQ(steps[0].pipeline_stages, 1);
  EXPECT_EQ(steps[1].id, "b");
  EXPECT_TRUE(steps[1].overlap);
  EXPECT_EQ(steps[1].pipeline_stages, 2);
  EXPECT_EQ(steps[1].micro_batches, 4);
}

TEST(Steps, ReportEverythingThatCannotBeRun) {
  const ScratchFolder folder;
  const std::string path = folder.write("steps.json",
                                        R"({"schema": "headway/steps/1", "steps": [
  {"id": "a", "layers": 0},
  {"id": "b", "jitter": 0.2},
  {"id": "c", "layers": 3, "pipeline_stages": 2},
  {"id": "d", "batch": 10, "micro_batches": 4},
  {"id": "e", "widht": 8}
]})");
  try {
    (void)read_steps(path);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 5U);
    EXPECT_EQ(error.diagnostics()[1].message, "a straggler needs emulated compute");
    EXPECT_EQ(error.diagnostics()[2].message, "pipeline_stages must divide layers");
    EXPECT_EQ(error.diagnostics()[2].help, "2 does not divide 3");
    EXPECT_EQ(error.diagnostics()[3].message, "micro_batches must divide batch");
  }
}

TEST(Steps, NeedAMultipleOfTheirStagesOfRanks) {
  TrainingStep step;
  step.pipeline_stages = 4;
  EXPECT_EQ(unrunnable_reason(step, 8), "");
  EXPECT_EQ(unrunnable_reason(step, 6), "4 pipeline stages do not divide 6 ranks");
}

}  // namespace
}  // namespace headway
