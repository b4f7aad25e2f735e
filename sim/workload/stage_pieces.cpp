#include "sim/workload/stage_pieces.h"

#include <algorithm>

#include "sim/base/kernel_shape.h"
#include "sim/strategy/adapters.h"
#include "sim/strategy/recompute.h"

namespace headway {
namespace {

/// Whether the embedding and the head stand on stages of their own.
bool ends_are_apart(const Strategy& strategy) {
  return strategy.pipeline_parallel > 1 && strategy.schedule != PipelineSchedule::zb_v;
}

}  // namespace

bool exchanges_embedding(const JobShape& job) {
  return job.model->tied_embeddings && ends_are_apart(*job.strategy) &&
         !trains_adapters(*job.strategy);
}

CollectiveKind gradient_collective(const Strategy& strategy) {
  return strategy.sharding == Sharding::none ? CollectiveKind::all_reduce
                                             : CollectiveKind::reduce_scatter;
}

namespace {

double embedding_parameters(const JobShape& job) {
  const ParameterCounts counts = parameter_counts(*job.model);
  return static_cast<double>(counts.token_embedding + counts.position_embedding) /
         job.strategy->tensor_parallel;
}

/// The output head; a tied one is a copy of the embedding where it stands on another stage.
double head_parameters(const JobShape& job) {
  const ParameterCounts counts = parameter_counts(*job.model);
  const bool copied = job.model->tied_embeddings && ends_are_apart(*job.strategy);
  return static_cast<double>(copied ? counts.token_embedding : counts.output_head) /
         job.strategy->tensor_parallel;
}

}  // namespace

std::vector<Piece> chunk_pieces(const JobShape& job, int global_chunk) {
  const Strategy& strategy = *job.strategy;
  const bool adapters = trains_adapters(strategy);
  const double adapter = adapter_parameters_per_rank(*job.model, strategy);
  const double layer =
      static_cast<double>(layer_parameters(*job.model)) / strategy.tensor_parallel + adapter;
  const double gradient_bytes = bytes_per_element(strategy.gradient_precision);
  const int layers = job.layers_of_chunk[static_cast<std::size_t>(global_chunk)];

  std::vector<Piece> pieces;  // from the back
  Piece piece;
  if (global_chunk == strategy.chunks() - 1) {
    piece.head = true;
    piece.parameters += head_parameters(job);
    if (!adapters) piece.trained += head_parameters(job);
  }
  const int recomputed = recomputed_layers(strategy, layers);
  for (int i = 0; i < layers; ++i) {
    ++piece.layers;
    if (layers - 1 - i < recomputed) ++piece.recomputed;
    if (layers - 1 - i < strategy.offload_layers) ++piece.offloaded;
    piece.parameters += layer;
    piece.trained += adapters ? adapter : layer;
    if (piece.trained * gradient_bytes >= strategy.gradient_bucket.count() && i + 1 < layers) {
      pieces.push_back(piece);
      piece = {};
    }
  }
  if (global_chunk == 0) {
    piece.embedding = true;
    piece.parameters += embedding_parameters(job);
    if (!adapters) piece.trained += embedding_parameters(job);
  }
  pieces.push_back(piece);
  std::ranges::reverse(pieces);
  pieces.front().begins_chunk = true;
  return pieces;
}

double chunk_parameters(const JobShape& job, int global_chunk) {
  double sum = 0.0;
  for (const Piece& piece : chunk_pieces(job, global_chunk)) sum += piece.parameters;
  return sum;
}

TimeByCause forward_time(const JobShape& job, const Piece& piece) {
  TimeByCause time = piece.layers * job.cost.layer_forward;
  time += piece.offloaded * job.cost.layer_offload_forward;
  if (piece.embedding) time += job.cost.embedding_forward;
  if (piece.head) time += job.cost.head_forward;
  if (piece.begins_chunk) {
    time[Cause::other] += job.cost.micro_batch_overhead / job.strategy->virtual_stages;
  }
  return time;
}

TimeByCause backward_time(const JobShape& job, const Piece& piece) {
  TimeByCause time = piece.layers * job.cost.layer_backward;
  time += piece.recomputed * job.cost.layer_recompute;
  time += piece.offloaded * job.cost.layer_offload_backward;
  if (piece.embedding) time += job.cost.embedding_backward;
  if (piece.head) time += job.cost.head_backward;
  return time;
}

TimeByCause input_gradient_time(const JobShape& job, const Piece& piece) {
  return backward_time(job, piece) + -1.0 * weight_gradient_time(job, piece);
}

TimeByCause weight_gradient_time(const JobShape& job, const Piece& piece) {
  TimeByCause time = piece.layers * job.cost.layer_weight;
  if (piece.embedding) time += job.cost.embedding_backward;
  if (piece.head) time += job.cost.head_weight;
  return time;
}

TimeByCause step_time(const JobShape& job, double parameters) {
  const Strategy& strategy = *job.strategy;
  const auto part_from = [&](Sharding least) {
    return strategy.sharding >= least ? parameters / strategy.shard_ranks() : parameters;
  };
  TimeByCause time;
  time[Cause::optimizer] =
      Seconds(part_from(Sharding::optimizer) * job.optimizer_seconds_per_parameter +
              part_from(Sharding::gradients) * job.norm_seconds_per_parameter);
  time[Cause::other] = job.cost.step_overhead;
  return time;
}

}  // namespace headway
