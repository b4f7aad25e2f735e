#include "sim/programs/pieces/replica_messages.h"

#include <algorithm>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/shard_groups.h"
#include "sim/layers/kernel_shape.h"
#include "sim/programs/pieces/chunk_neighbours.h"

namespace headway {

bool exchanges_embedding(const JobShape& job) {
  return job.model->tied && ends_are_apart(*job.strategy) && !trains_adapters(*job.strategy);
}

CollectiveKind gradient_collective(const Strategy& strategy) {
  switch (strategy.compression.method->exchange) {
    case CompressedExchange::gather:
      return CollectiveKind::all_gather;
    case CompressedExchange::scatter_and_gather:
      return CollectiveKind::all_to_all;
    case CompressedExchange::reduce:
      break;
  }
  // Where groups share out the optimizer, every group needs the sums over all replicas. Slices of
  // the sums are not whole tensors.
  const bool are_scattered = strategy.sharding != Sharding::none &&
                             !shards_optimizer_in_groups(strategy) &&
                             !shards_optimizer_by_tensors(strategy);
  return are_scattered ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
}

CollectiveKind parameter_collective(const Strategy& strategy) {
  return shards_optimizer_by_tensors(strategy) ? CollectiveKind::broadcast
                                               : CollectiveKind::all_gather;
}

UpdatedPart gathered_of(const JobShape& job, const Piece& piece) {
  const bool gathers_all = job.strategy->sharding == Sharding::full;
  return {gathers_all ? piece.parameters : piece.trained, piece.matrices,
          gathers_all || !trains_adapters(*job.strategy) ? parameters_of_ends(job, piece) : 0.0};
}

double gathered_bytes(const Strategy& strategy, const UpdatedPart& part) {
  return (part.elements - part.wide) * gathered_parameter_bytes(strategy) +
         part.wide * working_bytes_per_element(strategy.precision);
}

double gathers_of(const Strategy& strategy, const UpdatedPart& part, const UpdatedPart& all,
                  int ranks) {
  if (!shards_optimizer_by_tensors(strategy)) return 1.0;
  return std::min(part.matrices, ranks * part.elements / all.elements);
}

Bytes gradient_message(const JobShape& job, const GradientPart& gradients) {
  const Strategy& strategy = *job.strategy;
  const double bytes = bytes_per_element(strategy.gradient_precision);
  if (strategy.compression.is_none()) {
    return Bytes(job.gradient_traffic * gradients.elements * bytes);
  }
  return job.gradient_traffic *
         compressed_message(strategy.compression, gradients, bytes, strategy.replicas());
}

TimeByCause compression_time(const JobShape& job, const GradientPart& gradients) {
  const Strategy& strategy = *job.strategy;
  const Bytes streamed = strategy.compression.method->streamed(
      strategy.compression, gradients, bytes_per_element(strategy.gradient_precision),
      strategy.replicas());
  TimeByCause time;
  time[Cause::data_parallel_exposed] = Seconds(streamed.count() * job.memory_seconds_per_byte);
  return time;
}

}  // namespace headway
