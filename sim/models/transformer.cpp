#include "sim/models/transformer.h"

#include <algorithm>

namespace headway {
namespace {

/// Rows of the fused query, key and value projection: every query head, and a key and a value for
/// each group of them.
std::int64_t qkv_rows(const TransformerModel& model) {
  return (model.attention_heads + 2 * model.kv_heads) * model.head_size;
}

/// 3 for SwiGLU (gate, up, down), 2 otherwise (up, down).
std::int64_t mlp_matrices(const TransformerModel& model) { return model.gated_mlp ? 3 : 2; }

/// Weights of the products that make queries, keys and values of latent attention.
std::int64_t latent_weights(const TransformerModel& model, const LatentAttention& latent) {
  const std::int64_t query_rows = model.attention_heads * model.head_size;
  const std::int64_t queries = latent.query_rank > 0
                                   ? latent.query_rank * (model.hidden + query_rows)
                                   : model.hidden * query_rows;
  const std::int64_t keys_and_values =
      model.hidden * (latent.key_value_rank + latent.rotary_head_size) +
      latent.key_value_rank * model.attention_heads *
          (latent.head_size_without_rotary + latent.value_head_size);
  return queries + keys_and_values;
}

std::int64_t attention_weights(const TransformerModel& model) {
  const std::int64_t projection = model.attention_heads * value_head_size(model) * model.hidden;
  if (model.latent_attention) return latent_weights(model, *model.latent_attention) + projection;
  return model.hidden * qkv_rows(model) + projection;
}

std::int64_t attention_parameters(const TransformerModel& model) {
  std::int64_t others = model.projection_bias ? model.hidden : 0;
  if (model.attention_sinks) others += model.attention_heads;
  if (const auto& latent = model.latent_attention) {
    others += latent->query_rank + latent->key_value_rank;  // gains of the norms between products
  } else if (model.qkv_bias) {
    others += qkv_rows(model);
  }
  return attention_weights(model) + others;
}

std::int64_t mlp_parameters(const TransformerModel& model, std::int64_t ffn_hidden) {
  if (ffn_hidden == 0) return 0;
  const std::int64_t weights = mlp_matrices(model) * model.hidden * ffn_hidden;
  const std::int64_t inner = (mlp_matrices(model) - 1) * ffn_hidden;
  return weights + (model.mlp_bias ? inner + model.hidden : 0);
}

/// A gain per channel; a layer norm may have a bias too.
std::int64_t norm_parameters(const TransformerModel& model) {
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  return (biased ? 2 : 1) * model.hidden;
}

/// Positions that a token attends to, on average.
double attended_positions(const TransformerModel& model, LayerKind kind, double sequence_length,
                          bool causal) {
  double share = 1.0;
  if (kind.windowed) {
    const double reach =
        std::min(1.0, static_cast<double>(model.sliding_window->size) / sequence_length);
    share = reach * (2.0 - reach);
  }
  return sequence_length * share * (causal ? 0.5 : 1.0);
}

/// Products and attention of one layer, for one token.
double layer_flops(const TransformerModel& model, LayerKind kind, double sequence_length,
                   bool causal) {
  const double scores = 2.0 * static_cast<double>(model.attention_heads) *
                        static_cast<double>(model.head_size + value_head_size(model)) *
                        attended_positions(model, kind, sequence_length, causal);
  std::int64_t inner = model.ffn_hidden;
  std::int64_t router = 0;
  if (kind.experts) {
    const MixtureOfExperts& mixture = *model.mixture_of_experts;
    inner = mixture.experts_per_token * mixture.expert_hidden + mixture.shared_expert_hidden;
    router = mixture.experts * model.hidden;
  }
  const std::int64_t weights =
      attention_weights(model) + mlp_matrices(model) * model.hidden * inner + router;
  return 2.0 * static_cast<double>(weights) + scores;
}

}  // namespace

LayerKind layer_kind(const TransformerModel& model, std::int64_t layer) {
  LayerKind kind;
  if (const auto& mixture = model.mixture_of_experts) {
    const std::int64_t behind = layer - mixture->leading_dense_layers;
    kind.experts = behind >= 0 && behind % mixture->interval == mixture->interval - 1;
  }
  if (const auto& window = model.sliding_window) {
    const std::int64_t interval = window->full_attention_interval;
    kind.windowed = interval == 0 || layer % interval != interval - 1;
  }
  return kind;
}

LayerKind prediction_layer_kind(const TransformerModel& model) {
  return layer_kind(model, model.layers - 1);
}

std::int64_t value_head_size(const TransformerModel& model) {
  return model.latent_attention ? model.latent_attention->value_head_size : model.head_size;
}

LayerParameters layer_parameters(const TransformerModel& model, LayerKind kind) {
  LayerParameters parameters;
  parameters.attention = attention_parameters(model);
  parameters.normalization = 2 * norm_parameters(model);
  if (!kind.experts) {
    parameters.mlp = mlp_parameters(model, model.ffn_hidden);
    return parameters;
  }
  const MixtureOfExperts& mixture = *model.mixture_of_experts;
  parameters.mlp = mlp_parameters(model, mixture.shared_expert_hidden);
  parameters.router = mixture.experts * (model.hidden + (model.mlp_bias ? 1 : 0));
  parameters.experts = mixture.experts * mlp_parameters(model, mixture.expert_hidden);
  return parameters;
}

std::int64_t prediction_join_parameters(const TransformerModel& model) {
  return 2 * model.hidden * model.hidden + 3 * norm_parameters(model);
}

ParameterCounts parameter_counts(const TransformerModel& model) {
  ParameterCounts counts;
  counts.token_embedding = model.vocabulary * model.hidden;
  if (model.position_encoding == PositionEncoding::learned) {
    counts.position_embedding = model.sequence_length * model.hidden;
  }
  counts.normalization = norm_parameters(model);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const LayerParameters of_layer = layer_parameters(model, layer_kind(model, layer));
    counts.attention += of_layer.attention;
    counts.mlp += of_layer.mlp;
    counts.router += of_layer.router;
    counts.experts += of_layer.experts;
    counts.normalization += of_layer.normalization;
  }
  if (!model.tied_embeddings) counts.output_head = model.vocabulary * model.hidden;
  counts.multi_token_prediction = model.multi_token_prediction_layers *
                                  (layer_parameters(model, prediction_layer_kind(model)).total() +
                                   prediction_join_parameters(model));
  return counts;
}

std::int64_t active_parameters(const TransformerModel& model) {
  const ParameterCounts counts = parameter_counts(model);
  std::int64_t active = counts.total() - counts.experts - counts.token_embedding;
  if (model.tied_embeddings) active += counts.token_embedding;
  if (const auto& mixture = model.mixture_of_experts) {
    active += counts.experts / mixture->experts * mixture->experts_per_token;
  }
  return active;
}

Flops forward_flops_per_token(const TransformerModel& model, std::int64_t sequence_length,
                              bool causal) {
  const double s = static_cast<double>(sequence_length);
  const double h = static_cast<double>(model.hidden);
  const double head = 2.0 * h * static_cast<double>(model.vocabulary);
  double sum = head;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    sum += layer_flops(model, layer_kind(model, layer), s, causal);
  }
  const double join = 2.0 * 2.0 * h * h;
  sum += static_cast<double>(model.multi_token_prediction_layers) *
         (layer_flops(model, prediction_layer_kind(model), s, causal) + join + head);
  return Flops(sum);
}

}  // namespace headway
