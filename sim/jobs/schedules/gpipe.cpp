#include "sim/jobs/schedules/warm_up.h"

namespace headway {

/// All forward passes, then all backward ones in the same order of micro-batches.
Schedule gpipe() {
  return {.name = "gpipe",
          .title = "GPipe",
          .what = "GPipe runs all forward passes first.",
          .source = "Huang et al. 2019 (arXiv:1811.06965)",
          .bounds_flight = false,
          .steps = [](const PipelineShape& shape,
                      int /*stage*/) { return warmed_up_steps(shape, shape.micro_batches); },
          .in_flight = [](const PipelineShape& shape, int /*stage*/) -> std::int64_t {
            return shape.micro_batches;
          },
          .bubble = fill_and_drain};
}

}  // namespace headway
