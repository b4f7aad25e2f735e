#include "sim/strategy/stage_parameters.h"

#include <algorithm>
#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/strategy/adapters.h"
#include "sim/strategy/schedule.h"

namespace headway {
namespace {

double norm_parameters(const TransformerModel& model) {
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  return (biased ? 2.0 : 1.0) * static_cast<double>(model.hidden);
}

int position_of(const Strategy& strategy, int stage, int chunk) {
  return chunk_position(strategy.schedule, stage, chunk, strategy.pipeline_parallel);
}

}  // namespace

double layer_parameters_per_rank(const TransformerModel& model, int tensor_parallel) {
  const double h = static_cast<double>(model.hidden);
  const double d = static_cast<double>(model.head_size);
  const double query_heads = static_cast<double>(model.attention_heads) / tensor_parallel;
  const double kv_heads = std::max(1.0, static_cast<double>(model.kv_heads) / tensor_parallel);
  const double ffn = static_cast<double>(model.ffn_hidden) / tensor_parallel;
  const double inward_matrices = model.gated_mlp ? 2.0 : 1.0;

  const double qkv_rows = (query_heads + 2.0 * kv_heads) * d;
  const double qkv = qkv_rows * (h + (model.qkv_bias ? 1.0 : 0.0));
  const double projection = query_heads * d * h + (model.projection_bias ? h : 0.0);
  const double mlp_weights = (inward_matrices + 1.0) * h * ffn;
  const double mlp_biases = model.mlp_bias ? inward_matrices * ffn + h : 0.0;
  return qkv + projection + mlp_weights + mlp_biases + 2.0 * norm_parameters(model);
}

std::vector<int> stage_layers(const TransformerModel& model, const Strategy& strategy, int stage) {
  HEADWAY_CHECK(stage >= 0, "no such stage");
  HEADWAY_CHECK(stage < strategy.pipeline_parallel, "no such stage");
  const std::vector<int> blocks = layers_of_chunks(strategy, model.layers);
  std::vector<int> layers;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    layers.push_back(blocks[static_cast<std::size_t>(position_of(strategy, stage, chunk))]);
  }
  return layers;
}

bool is_first_chunk(const Strategy& strategy, int stage, int chunk) {
  return position_of(strategy, stage, chunk) == 0;
}

bool is_last_chunk(const Strategy& strategy, int stage, int chunk) {
  return position_of(strategy, stage, chunk) == strategy.chunks() - 1;
}

StageParameters stage_parameters(const TransformerModel& model, const Strategy& strategy,
                                 int stage) {
  const std::vector<int> layers = stage_layers(model, strategy, stage);
  const double h = static_cast<double>(model.hidden);
  const double vocabulary = static_cast<double>(model.vocabulary) * h / strategy.tensor_parallel;
  bool is_first = false;
  bool is_last = false;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    is_first = is_first || is_first_chunk(strategy, stage, chunk);
    is_last = is_last || is_last_chunk(strategy, stage, chunk);
  }

  StageParameters parameters;
  const int held = std::accumulate(layers.begin(), layers.end(), 0);
  parameters.layers = held * layer_parameters_per_rank(model, strategy.tensor_parallel);
  parameters.adapters = held * adapter_parameters_per_rank(model, strategy);
  if (is_first) {
    parameters.embedding = vocabulary;
    if (model.position_encoding == PositionEncoding::learned) {
      parameters.embedding += static_cast<double>(model.sequence_length) * h;
    }
  }
  if (is_last) {
    const bool reuses_embedding = model.tied_embeddings && is_first;
    parameters.head = norm_parameters(model) + (reuses_embedding ? 0.0 : vocabulary);
  }
  return parameters;
}

double trained_parameters(const StageParameters& parameters, const Strategy& strategy) {
  return trains_adapters(strategy) ? parameters.adapters : parameters.total();
}

}  // namespace headway
