#pragma once

#include <memory>

#include "sim/programs/pipeline/chunk_work.h"
#include "sim/programs/pipeline/pass_order.h"
#include "sim/programs/stage_program.h"

namespace headway {

/// `pipeline_program` with its passes in short. `works` is of this job, `order` of its stage.
[[nodiscard]] Program short_pipeline_program(const JobShape& job, ChunkWorks& works,
                                             std::shared_ptr<const PassOrder> order, int stage);

}  // namespace headway
