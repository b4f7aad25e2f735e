#pragma once

#include <cstdint>
#include <vector>

#include "sim/jobs/schedules/schedule.h"

namespace headway {

/// `warm_up` forward passes, then one forward and one backward pass in turns, then the rest of the
/// backward passes. A group of `stages` micro-batches goes through all chunks before the next group
/// starts: chunks ascend going forward, descend going back (Megatron-LM, get_model_chunk_id of
/// megatron/core/pipeline_parallel/schedules.py).
[[nodiscard]] std::vector<ScheduleStep> warmed_up_steps(const PipelineShape& shape,
                                                        std::int64_t warm_up);

/// Time lost to filling and draining: (p-1) passes of a chunk (Narayanan et al. 2021, section 2.2).
[[nodiscard]] double fill_and_drain(const PipelineShape& shape, const PassTimes& times);

}  // namespace headway
