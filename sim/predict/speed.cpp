#include "sim/predict/speed.h"

#include "sim/jobs/step_flops.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"
#include "sim/result/prediction.h"

namespace headway {

void set_speed(Prediction& prediction, const Model& model, const Strategy& strategy,
               FlopsPerSecond peak) {
  const double seconds = prediction.iteration_time.count();
  const double accelerators = strategy.ranks();
  const StepFlops flops = step_flops(model, strategy);
  const FlopsPerSecond all = accelerators * peak;
  prediction.micro_batches = strategy.micro_batches();
  prediction.samples_per_second = static_cast<double>(strategy.global_batch) / seconds;
  if (model.has_tokens) {
    prediction.tokens_per_second =
        prediction.samples_per_second * static_cast<double>(strategy.sequence_length);
  }
  prediction.tokens_per_second_per_accelerator = prediction.tokens_per_second / accelerators;
  prediction.model_flops_per_second_per_accelerator = flops.model.count() / seconds / accelerators;
  prediction.mfu = (flops.model / prediction.iteration_time) / all;
  prediction.mfu_whole_square = (flops.model_whole_square / prediction.iteration_time) / all;
  prediction.hfu = (flops.hardware / prediction.iteration_time) / all;
}

}  // namespace headway
