#pragma once

#include <optional>

#include "sim/jobs/schedules/schedule.h"
#include "sim/programs/stage_program.h"

namespace headway {

/// Whether the embedding and the head stand on stages of their own.
[[nodiscard]] bool ends_are_apart(const Strategy& strategy);

/// The chunk so many steps behind one of a stage's, if what passes between them has to travel;
/// nothing where the model begins or ends in between.
[[nodiscard]] std::optional<ChunkPlace> chunk_elsewhere(const Strategy& strategy, int stage,
                                                        int chunk, int steps);

/// From the last layer of a chunk to the first of the next one.
[[nodiscard]] Bytes passed_on(const JobShape& job, int global_chunk);
/// The largest of these.
[[nodiscard]] Bytes largest_passed_on(const JobShape& job);

}  // namespace headway
