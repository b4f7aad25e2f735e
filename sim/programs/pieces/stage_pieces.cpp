#include "sim/programs/pieces/stage_pieces.h"

#include <algorithm>
#include <numeric>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/parameters.h"
#include "sim/layers/tables.h"
#include "sim/programs/pieces/chunk_neighbours.h"

namespace headway {
namespace {

/// The sum of a pass over the first `layers` of the piece.
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
/// Fully sharded, a piece is what is gathered at once, too: of adapters, with the frozen matrices
/// that they stand beside.
bool is_bucket(const JobShape& job, const Piece& piece, bool is_first) {
  const Strategy& strategy = *job.strategy;
  const double counted = strategy.sharding == Sharding::full ? piece.parameters : piece.trained;
  const double bytes =
      (counted + piece.expert_parameters) * bytes_per_element(strategy.gradient_precision);
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

}  // namespace

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

double parameters_of_ends(const JobShape& job, const Piece& piece) {
  return (piece.embedding ? embedding_parameters(job) : 0.0) +
         (piece.head ? head_parameters(job) : 0.0);
}

OrthogonalTime orthogonal_time(const JobShape& job, const Piece& piece) {
  OrthogonalTime time = sum_of_layers(job, piece, piece.layers, &LayerCost::orthogonal);
  if (const int ahead = job.model->ahead.layers; piece.head && ahead > 0) {
    time += static_cast<double>(ahead) * job.cost.layer(job.model->ahead.kind).orthogonal;
  }
  return time;
}

}  // namespace headway
