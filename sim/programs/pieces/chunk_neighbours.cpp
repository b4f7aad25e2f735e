#include "sim/programs/pieces/chunk_neighbours.h"

#include <numeric>

#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/exchanges.h"

namespace headway {

bool ends_are_apart(const Strategy& strategy) {
  const auto stage_of = [&](int position) {
    return chunk_place(*strategy.schedule, position, 0, strategy.pipeline_parallel).stage;
  };
  return stage_of(0) != stage_of(strategy.chunks() - 1);
}

std::optional<ChunkPlace> chunk_elsewhere(const Strategy& strategy, int stage, int chunk,
                                          int steps) {
  const int stages = strategy.pipeline_parallel;
  const int wanted = chunk_position(*strategy.schedule, stage, chunk, stages) + steps;
  if (wanted < 0 || wanted >= strategy.chunks()) return std::nullopt;
  const ChunkPlace place = chunk_place(*strategy.schedule, wanted, chunk, stages);
  return place.stage != stage ? std::optional(place) : std::nullopt;
}

Bytes passed_on(const JobShape& job, int global_chunk) {
  const auto begin = job.layers_of_chunk.begin();
  const int behind = std::accumulate(begin, begin + global_chunk + 1, 0);
  const Layer& last = behind > 0 ? job.model->layer(behind - 1) : job.model->first;
  return stage_message(last, rank_shape_of(*job.strategy));
}

Bytes largest_passed_on(const JobShape& job) {
  const RankShape shape = rank_shape_of(*job.strategy);
  Bytes largest;
  int behind = 0;
  const Layer* handing_on = nullptr;
  for (const int layers : job.layers_of_chunk) {
    behind += layers;
    if (layers == 0 || behind >= job.model->layer_count()) continue;
    const Layer& last = job.model->layer(behind - 1);
    if (&last != handing_on) largest = max(largest, stage_message(last, shape));
    handing_on = &last;
  }
  return largest;
}

}  // namespace headway
