#include "sim/jobs/stage_parameters.h"

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/jobs/adapters.h"
#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

double norm_parameters(const TransformerModel& model) {
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  return (biased ? 2.0 : 1.0) * static_cast<double>(model.hidden);
}

int position_of(const Strategy& strategy, int stage, int chunk) {
  return chunk_position(strategy.schedule, stage, chunk, strategy.pipeline_parallel);
}

double grouped_attention_parameters(const TransformerModel& model, double tensor_parallel) {
  const double h = static_cast<double>(model.hidden);
  const double d = static_cast<double>(model.head_size);
  const double query_heads = static_cast<double>(model.attention_heads) / tensor_parallel;
  const double kv_heads = std::max(1.0, static_cast<double>(model.kv_heads) / tensor_parallel);
  const double qkv_rows = (query_heads + 2.0 * kv_heads) * d;
  const double qkv = qkv_rows * (h + (model.qkv_bias ? 1.0 : 0.0));
  return qkv + query_heads * d * h + (model.projection_bias ? h : 0.0);
}

/// Products up to the heads and the projection are cut; the narrow ones and their norms are not.
double latent_attention_parameters(const TransformerModel& model, double tensor_parallel) {
  const LatentAttention& latent = *model.latent_attention;
  const double h = static_cast<double>(model.hidden);
  const double d = static_cast<double>(model.head_size);
  const double heads = static_cast<double>(model.attention_heads) / tensor_parallel;
  const double query_rank = static_cast<double>(latent.query_rank);
  const double key_value_rank = static_cast<double>(latent.key_value_rank);
  const double value = static_cast<double>(latent.value_head_size);

  const double queries = latent.query_rank > 0 ? query_rank * (h + 1.0 + heads * d) : h * heads * d;
  const double down = h * (key_value_rank + static_cast<double>(latent.rotary_head_size));
  const double up =
      key_value_rank * heads * (static_cast<double>(latent.head_size_without_rotary) + value);
  return queries + down + key_value_rank + up + heads * value * h +
         (model.projection_bias ? h : 0.0);
}

double attention_parameters(const TransformerModel& model, double tensor_parallel) {
  const double sinks =
      model.attention_sinks ? static_cast<double>(model.attention_heads) / tensor_parallel : 0.0;
  return sinks + (model.latent_attention ? latent_attention_parameters(model, tensor_parallel)
                                         : grouped_attention_parameters(model, tensor_parallel));
}

double mlp_parameters(const TransformerModel& model, std::int64_t ffn_hidden, double parts) {
  if (ffn_hidden == 0) return 0.0;
  const double h = static_cast<double>(model.hidden);
  const double ffn = static_cast<double>(ffn_hidden) / parts;
  const double inward_matrices = model.gated_mlp ? 2.0 : 1.0;
  const double biases = model.mlp_bias ? inward_matrices * ffn + h : 0.0;
  return (inward_matrices + 1.0) * h * ffn + biases;
}

}  // namespace

LayerParametersPerRank layer_parameters_per_rank(const TransformerModel& model,
                                                 const Strategy& strategy, LayerKind kind) {
  const double parts = strategy.tensor_parallel;
  LayerParametersPerRank parameters;
  parameters.shared = attention_parameters(model, parts) + 2.0 * norm_parameters(model);
  if (!kind.experts) {
    parameters.shared += mlp_parameters(model, model.ffn_hidden, parts);
    return parameters;
  }
  const MixtureOfExperts& mixture = *model.mixture_of_experts;
  parameters.shared += static_cast<double>(layer_parameters(model, kind).router) +
                       mlp_parameters(model, mixture.shared_expert_hidden, parts);
  parameters.experts =
      static_cast<double>(mixture.experts) / strategy.expert_parallel *
      mlp_parameters(model, mixture.expert_hidden, strategy.expert_tensor_parallel);
  return parameters;
}

std::vector<LayerRange> chunk_layers(const TransformerModel& model, const Strategy& strategy) {
  std::vector<LayerRange> ranges;
  int first = 0;
  for (const int count : layers_of_chunks(strategy, model.layers,
                                          static_cast<int>(model.multi_token_prediction_layers))) {
    ranges.push_back({first, count});
    first += count;
  }
  return ranges;
}

std::vector<LayerRange> stage_layers(const TransformerModel& model, const Strategy& strategy,
                                     int stage) {
  HEADWAY_CHECK(stage >= 0, "no such stage");
  HEADWAY_CHECK(stage < strategy.pipeline_parallel, "no such stage");
  const std::vector<LayerRange> chunks = chunk_layers(model, strategy);
  std::vector<LayerRange> layers;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    layers.push_back(chunks[static_cast<std::size_t>(position_of(strategy, stage, chunk))]);
  }
  return layers;
}

bool is_first_chunk(const Strategy& strategy, int stage, int chunk) {
  return position_of(strategy, stage, chunk) == 0;
}

bool is_last_chunk(const Strategy& strategy, int stage, int chunk) {
  return position_of(strategy, stage, chunk) == strategy.chunks() - 1;
}

std::array<int, kLayerKinds> kinds_of_layers(const TransformerModel& model,
                                             const LayerRange& range) {
  std::array<int, kLayerKinds> kinds{};
  for (int layer = range.first; layer < range.first + range.count; ++layer) {
    ++kinds[layer_kind(model, layer).index()];
  }
  return kinds;
}

std::array<LayerKind, kLayerKinds> layer_kinds() {
  std::array<LayerKind, kLayerKinds> kinds;
  for (const bool experts : {false, true}) {
    for (const bool windowed : {false, true}) {
      const LayerKind kind{.experts = experts, .windowed = windowed};
      kinds[kind.index()] = kind;
    }
  }
  return kinds;
}

StageParameters stage_parameters(const TransformerModel& model, const Strategy& strategy,
                                 int stage) {
  const double h = static_cast<double>(model.hidden);
  const double vocabulary = static_cast<double>(model.vocabulary) * h / strategy.tensor_parallel;
  bool is_first = false;
  bool is_last = false;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    is_first = is_first || is_first_chunk(strategy, stage, chunk);
    is_last = is_last || is_last_chunk(strategy, stage, chunk);
  }

  StageParameters parameters;
  const auto add_layers = [&](double count, LayerKind kind) {
    const LayerParametersPerRank layer = layer_parameters_per_rank(model, strategy, kind);
    parameters.layers += count * layer.shared;
    parameters.experts += count * layer.experts;
  };
  for (const LayerRange& range : stage_layers(model, strategy, stage)) {
    const std::array<int, kLayerKinds> counts = kinds_of_layers(model, range);
    for (const LayerKind kind : layer_kinds()) {
      if (counts[kind.index()] > 0) add_layers(counts[kind.index()], kind);
    }
    parameters.adapters += range.count * adapter_parameters_per_rank(model, strategy);
  }
  if (is_first) {
    parameters.embedding = vocabulary;
    if (model.position_encoding == PositionEncoding::learned) {
      parameters.embedding += static_cast<double>(model.sequence_length) * h;
    }
  }
  if (is_last) {
    const bool reuses_embedding = model.tied_embeddings && is_first;
    parameters.head = norm_parameters(model) + (reuses_embedding ? 0.0 : vocabulary);
    const auto predictions = static_cast<double>(model.multi_token_prediction_layers);
    if (predictions > 0.0) {
      add_layers(predictions, prediction_layer_kind(model));
      parameters.head +=
          predictions * (2.0 * h * h / strategy.tensor_parallel + 3.0 * norm_parameters(model));
      // The embedding of the tokens ahead is a copy, unless the head is one.
      if (!is_first && !model.tied_embeddings) parameters.head += vocabulary;
    }
  }
  return parameters;
}

double trained_parameters(const StageParameters& parameters, const Strategy& strategy) {
  return trains_adapters(strategy) ? parameters.adapters : parameters.total();
}

}  // namespace headway
