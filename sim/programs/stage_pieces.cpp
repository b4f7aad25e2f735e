#include "sim/programs/stage_pieces.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/shard_groups.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/exchanges.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/parameters.h"
#include "sim/layers/tables.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

/// Whether the embedding and the head stand on stages of their own.
bool ends_are_apart(const Strategy& strategy) {
  const auto stage_of = [&](int position) {
    return chunk_place(*strategy.schedule, position, 0, strategy.pipeline_parallel).stage;
  };
  return stage_of(0) != stage_of(strategy.chunks() - 1);
}

}  // namespace

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

namespace {

/// Of the first `layers` of the piece.
template <class Sum>
Sum sum_of_layers(const JobShape& job, const StageCost& cost, const Piece& piece, int layers,
                  Sum LayerCost::*pass) {
  const auto first = job.model->layers.begin() + piece.first_layer;
  Sum sum;
  std::ptrdiff_t left = layers;
  for (int kind = 0; left > 0; ++kind) {
    const std::ptrdiff_t of_kind = std::count(first, first + layers, kind);
    left -= of_kind;
    if (of_kind > 0) sum += static_cast<double>(of_kind) * (cost.layer(kind).*pass);
  }
  return sum;
}
template <class Sum>
Sum sum_of_layers(const JobShape& job, const Piece& piece, int layers, Sum LayerCost::*pass) {
  return sum_of_layers(job, job.cost, piece, layers, pass);
}

TimeByCause backward_time(const JobShape& job, const StageCost& cost, const Piece& piece) {
  TimeByCause time = sum_of_layers(job, cost, piece, piece.layers, &LayerCost::backward);
  time += sum_of_layers(job, cost, piece, piece.recomputed, &LayerCost::recompute);
  time += sum_of_layers(job, cost, piece, piece.offloaded, &LayerCost::offload_backward);
  if (piece.embedding) time += cost.embedding_backward;
  if (piece.head) time += cost.head_backward;
  return time;
}

double embedding_parameters(const JobShape& job) {
  return parameters(job.model->first).total() / job.strategy->tensor_parallel;
}

/// The output head without the norm in front of it; a tied one is a copy of the embedding where it
/// stands on another stage. What multi-token prediction adds to its layers stands with it.
double head_parameters(const JobShape& job) {
  const Model& model = *job.model;
  const bool reused = model.tied && !ends_are_apart(*job.strategy);
  const Parameters last = parameters(model.last);
  const double head =
      last.total() - last.of(Part::normalization) - (reused ? tied_parameters(model) : 0.0);
  const double joins = model.ahead.layers * parameters(model.ahead.join).total();
  return (head + joins) / job.strategy->tensor_parallel;
}

/// Of a piece, what stands before and behind the layers.
double parameters_of_ends(const JobShape& job, const Piece& piece) {
  return (piece.embedding ? embedding_parameters(job) : 0.0) +
         (piece.head ? head_parameters(job) : 0.0);
}

/// What low-rank factors leave of the gradients of a layer: those of its matrices, where they are
/// smaller, and all else.
double factor_elements(const Layer& layer, const Compression& how) {
  const Parameters whole = parameters(layer);
  double elements = whole.total() - whole.tables();
  for (const Product& product : layer.products) {
    const double factors = how.rank * (product.outputs + product.inputs);
    elements -= product.copies * std::max(0.0, product.outputs * product.inputs - factors);
  }
  return elements;
}

/// Whether the gradients of the piece leave, with nothing of the chunk before them if it is first.
bool is_bucket(const JobShape& job, const Piece& piece, bool is_first) {
  const Strategy& strategy = *job.strategy;
  const double bytes =
      (piece.trained + piece.expert_parameters) * bytes_per_element(strategy.gradient_precision);
  const Bytes least = is_first ? strategy.first_gradient_bucket.value_or(strategy.gradient_bucket)
                               : strategy.gradient_bucket;
  if (bytes >= least.count()) return true;
  if (strategy.gradient_cycle == Seconds(0.0)) return false;
  const StageCost& cost = job.cutting != nullptr ? *job.cutting : job.cost;
  return backward_time(job, cost, piece).total() >= strategy.gradient_cycle;
}

/// What a layer adds to its piece.
Piece layer_parameters(const JobShape& job, const Layer& layer) {
  const Strategy& strategy = *job.strategy;
  Piece piece;
  const Parameters whole = parameters(layer);
  const double adapter =
      adapter_parameters_on_rank(layer, rank_shape_of(strategy), adapter_rank(strategy));
  const double tables = tables_on_rank(layer, rank_shape_of(strategy)).replicated;
  const double shared = whole.shared() / strategy.tensor_parallel + adapter + tables;
  piece.parameters = shared;
  piece.trained = trains_adapters(strategy) ? adapter : shared;
  piece.expert_parameters = whole.experts() / strategy.expert_group();
  const MatrixCount matrices = parameter_matrices(layer);
  piece.matrices = matrices.shared;
  piece.expert_matrices = matrices.experts / strategy.expert_parallel;
  piece.factors = factor_elements(layer, strategy.compression) + tables;
  piece.tensors = parameter_tensors(layer);
  return piece;
}

void add_parameters(Piece& piece, const Piece& layer) {
  piece.parameters += layer.parameters;
  piece.trained += layer.trained;
  piece.expert_parameters += layer.expert_parameters;
  piece.matrices += layer.matrices;
  piece.expert_matrices += layer.expert_matrices;
  piece.factors += layer.factors;
  piece.tensors += layer.tensors;
}

/// The share of `matrices` that the fullest of the ranks which share them out has to do with.
double touched(const Strategy& strategy, double matrices, int ranks) {
  if (strategy.sharding == Sharding::none || matrices == 0.0) return 1.0;
  const double each = matrices / ranks;
  const double most = shards_optimizer_by_tensors(strategy) ? std::ceil(each) : each + 1.0;
  return std::min(1.0, most / matrices);
}

}  // namespace

StepWork& StepWork::operator+=(const StepWork& other) {
  trained += other.trained;
  ends += other.ends;
  experts += other.experts;
  matrices += other.matrices;
  expert_matrices += other.expert_matrices;
  orthogonal += other.orthogonal;
  return *this;
}

StepWork step_work(const JobShape& job, const Piece& piece) {
  StepWork work{.trained = piece.trained,
                .experts = piece.expert_parameters,
                .matrices = piece.matrices,
                .expert_matrices = piece.expert_matrices};
  if (!trains_adapters(*job.strategy)) work.ends = parameters_of_ends(job, piece);
  work.orthogonal = sum_of_layers(job, piece, piece.layers, &LayerCost::orthogonal);
  if (piece.embedding) work.matrices -= parameter_matrices(job.model->first).shared;
  if (piece.head) {
    work.matrices -= parameter_matrices(job.model->last).shared;
    if (const int ahead = job.model->ahead.layers; ahead > 0) {
      work.orthogonal +=
          static_cast<double>(ahead) * job.cost.layer(job.model->ahead.kind).orthogonal;
    }
  }
  return work;
}

std::vector<Piece> chunk_pieces(const JobShape& job, int global_chunk) {
  const Strategy& strategy = *job.strategy;
  const Model& model = *job.model;
  const auto chunk = job.layers_of_chunk.begin() + global_chunk;
  const int first = std::accumulate(job.layers_of_chunk.begin(), chunk, 0);

  std::vector<Piece> pieces;  // from the back
  pieces.reserve(static_cast<std::size_t>(*chunk) + 1);
  Piece piece;
  if (global_chunk == strategy.chunks() - 1) {
    piece.head = true;
    piece.parameters += head_parameters(job);
    if (!trains_adapters(strategy)) piece.trained += head_parameters(job);
    piece.matrices += parameter_matrices(model.last).shared;
    piece.factors +=
        std::min(factor_elements(model.last, strategy.compression), head_parameters(job));
    piece.tensors += parameter_tensors(model.last);
    for (int i = 0; i < model.ahead.layers; ++i) {
      add_parameters(piece, layer_parameters(job, model.kind(model.ahead.kind)));
    }
  }
  const int recomputed = recomputed_layers(strategy, *chunk);
  int kind = -1;
  Piece of_layer;  // of that kind
  for (int layer = first + *chunk - 1; layer >= first; --layer) {
    ++piece.layers;
    piece.first_layer = layer;
    if (layer - first < recomputed) ++piece.recomputed;
    if (layer - first < strategy.offload_layers) ++piece.offloaded;
    if (model.kind_of(layer) != kind) {
      kind = model.kind_of(layer);
      of_layer = layer_parameters(job, model.kind(kind));
    }
    add_parameters(piece, of_layer);
    if (layer > first && is_bucket(job, piece, pieces.empty())) {
      pieces.push_back(piece);
      piece = {};
    }
  }
  if (global_chunk == 0) {
    piece.embedding = true;
    piece.parameters += embedding_parameters(job);
    if (!trains_adapters(strategy)) piece.trained += embedding_parameters(job);
    piece.matrices += parameter_matrices(model.first).shared;
    piece.factors += embedding_parameters(job);
    piece.tensors += parameter_tensors(model.first);
  }
  pieces.push_back(piece);
  std::ranges::reverse(pieces);
  pieces.front().begins_chunk = true;
  return pieces;
}

TimeByCause forward_time(const JobShape& job, const Piece& piece) {
  TimeByCause time = sum_of_layers(job, piece, piece.layers, &LayerCost::forward);
  time += sum_of_layers(job, piece, piece.offloaded, &LayerCost::offload_forward);
  if (piece.embedding) time += job.cost.embedding_forward;
  if (piece.head) time += job.cost.head_forward;
  if (piece.begins_chunk) {
    time[Cause::other] += job.cost.micro_batch_overhead / job.strategy->virtual_stages;
  }
  return time;
}

TimeByCause backward_time(const JobShape& job, const Piece& piece) {
  return backward_time(job, job.cost, piece);
}

PassFlows forward_flows(const JobShape& job, const Piece& piece) {
  PassFlows flows = sum_of_layers(job, piece, piece.layers, &LayerCost::forward_flows);
  if (piece.head) flows += job.cost.head_forward_flows;
  return flows;
}

PassFlows backward_flows(const JobShape& job, const Piece& piece) {
  PassFlows flows = sum_of_layers(job, piece, piece.layers, &LayerCost::backward_flows);
  flows += sum_of_layers(job, piece, piece.recomputed, &LayerCost::recompute_flows);
  if (piece.head) flows += job.cost.head_backward_flows;
  return flows;
}

TimeByCause weight_gradient_time(const JobShape& job, const Piece& piece) {
  TimeByCause time = sum_of_layers(job, piece, piece.layers, &LayerCost::weight);
  if (piece.embedding) time += job.cost.embedding_backward;
  if (piece.head) time += job.cost.head_weight;
  return time;
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

TimeByCause step_time(const JobShape& job, const StepWork& work) {
  const Strategy& strategy = *job.strategy;
  // A state is shared out from this sharding on.
  const auto part_from = [&](Sharding least, double parameters, double expert_parameters) {
    if (strategy.sharding < least) return parameters + expert_parameters;
    return parameters / strategy.shard_ranks() + expert_parameters / strategy.expert_replicas();
  };
  const double at_ends = job.end_seconds_per_parameter - job.optimizer_seconds_per_parameter;
  TimeByCause time;
  time[Cause::optimizer] = Seconds(part_from(Sharding::optimizer, work.trained, work.experts) *
                                       job.optimizer_seconds_per_parameter +
                                   part_from(Sharding::gradients, work.trained, work.experts) *
                                       job.norm_seconds_per_parameter +
                                   part_from(Sharding::optimizer, work.ends, 0.0) * at_ends);
  time[Cause::optimizer] +=
      touched(strategy, work.matrices, strategy.shard_ranks()) * work.orthogonal.shared +
      touched(strategy, work.expert_matrices, strategy.expert_replicas()) * work.orthogonal.experts;
  time[Cause::other] = job.cost.step_overhead;
  return time;
}

bool gathers_momenta(const Strategy& strategy) {
  return strategy.optimizer->orthogonalises && strategy.sharding != Sharding::none &&
         !shards_optimizer_by_tensors(strategy);
}

}  // namespace headway
