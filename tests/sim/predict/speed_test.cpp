#include "sim/predict/speed.h"

#include <gtest/gtest.h>

#include "sim/jobs/step_flops.h"
#include "sim/jobs/strategy.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/result/prediction.h"

namespace headway {
namespace {

TEST(Speed, FollowsFromTheIterationTime) {
  const Model model =
      layers_of({.layers = 2, .hidden = 10, .head_size = 10, .ffn_hidden = 40, .vocabulary = 100});
  Strategy strategy;
  strategy.global_batch = 6;
  strategy.sequence_length = 8;
  strategy.data_parallel = 3;
  strategy.pipeline_parallel = 2;
  strategy.recompute = Recompute::full;
  const StepFlops flops = step_flops(model, strategy);
  Prediction prediction;
  prediction.iteration_time = 2_s;
  set_speed(prediction, model, strategy, FlopsPerSecond(1e6));
  EXPECT_EQ(prediction.micro_batches, 2);
  EXPECT_DOUBLE_EQ(prediction.samples_per_second, 3.0);
  EXPECT_DOUBLE_EQ(prediction.tokens_per_second, 24.0);
  EXPECT_DOUBLE_EQ(prediction.tokens_per_second_per_accelerator, 4.0);
  // Of 6 accelerators in 2 s.
  EXPECT_DOUBLE_EQ(prediction.model_flops_per_second_per_accelerator, flops.model.count() / 12.0);
  EXPECT_DOUBLE_EQ(prediction.mfu, flops.model.count() / 12e6);
  EXPECT_DOUBLE_EQ(prediction.mfu_whole_square, flops.model_whole_square.count() / 12e6);
  EXPECT_DOUBLE_EQ(prediction.hfu, flops.hardware.count() / 12e6);
}

}  // namespace
}  // namespace headway
