#include "calibrate/output/measured_json.h"

#include <gtest/gtest.h>

#include "sim/costs/steps/read_steps.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

TEST(MeasuredJson, IsReadBackAsItWasMeasured) {
  const ScratchFolder folder;
  const MeasuredStep row{.step = {.id = "b",
                                  .pipeline_stages = 2,
                                  .micro_batches = 4,
                                  .overlap = true,
                                  .slow_rank = 1,
                                  .slow_factor = 1.5,
                                  .emulated_flops_per_s = 1e9},
                         .ranks = 4,
                         .time_s = 0.25,
                         .spread = 0.01,
                         .contaminated = 0.02};
  const auto read = read_measured(
      folder.write("measured.json", measured_json({row}, "headway-calibrate", "2026")));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].step.id, "b");
  EXPECT_TRUE(read[0].step.overlap);
  EXPECT_EQ(read[0].step.pipeline_stages, 2);
  EXPECT_EQ(read[0].step.micro_batches, 4);
  EXPECT_EQ(read[0].step.slow_factor, 1.5);
  EXPECT_EQ(read[0].ranks, 4);
  EXPECT_EQ(read[0].time_s, 0.25);
  EXPECT_EQ(read[0].spread, 0.01);
  EXPECT_EQ(read[0].contaminated, 0.02);
}

}  // namespace
}  // namespace headway
