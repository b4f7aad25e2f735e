#include "sim/model/transformer.h"

namespace headway {
namespace {

/// Rows of the fused query, key and value projection: every query head, and a key and a value for
/// each group of them.
std::int64_t qkv_rows(const TransformerModel& model) {
  return (model.attention_heads + 2 * model.kv_heads) * model.head_size;
}

/// 3 for SwiGLU (gate, up, down), 2 otherwise (up, down).
std::int64_t mlp_matrices(const TransformerModel& model) { return model.gated_mlp ? 3 : 2; }

std::int64_t attention_parameters(const TransformerModel& model) {
  const std::int64_t qkv = model.hidden * qkv_rows(model);
  const std::int64_t projection = model.attention_heads * model.head_size * model.hidden;
  const std::int64_t biases =
      (model.qkv_bias ? qkv_rows(model) : 0) + (model.projection_bias ? model.hidden : 0);
  return qkv + projection + biases;
}

std::int64_t mlp_parameters(const TransformerModel& model) {
  const std::int64_t weights = mlp_matrices(model) * model.hidden * model.ffn_hidden;
  const std::int64_t inner = (mlp_matrices(model) - 1) * model.ffn_hidden;
  return weights + (model.mlp_bias ? inner + model.hidden : 0);
}

/// A gain per channel; a layer norm may have a bias too.
std::int64_t norm_parameters(const TransformerModel& model) {
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  return (biased ? 2 : 1) * model.hidden;
}

}  // namespace

ParameterCounts parameter_counts(const TransformerModel& model) {
  ParameterCounts counts;
  counts.token_embedding = model.vocabulary * model.hidden;
  if (model.position_encoding == PositionEncoding::learned) {
    counts.position_embedding = model.sequence_length * model.hidden;
  }
  counts.attention = model.layers * attention_parameters(model);
  counts.mlp = model.layers * mlp_parameters(model);
  counts.normalization = (2 * model.layers + 1) * norm_parameters(model);
  if (!model.tied_embeddings) counts.output_head = model.vocabulary * model.hidden;
  return counts;
}

std::int64_t layer_parameters(const TransformerModel& model) {
  return attention_parameters(model) + mlp_parameters(model) + 2 * norm_parameters(model);
}

Flops forward_flops_per_token(const TransformerModel& model, std::int64_t sequence_length,
                              bool causal) {
  const double h = static_cast<double>(model.hidden);
  const double inner = static_cast<double>(model.attention_heads * model.head_size);  // a d
  const double s = static_cast<double>(sequence_length);

  const double qkv = 2.0 * h * static_cast<double>(qkv_rows(model));
  const double projection = 2.0 * inner * h;
  const double attention = 4.0 * inner * s * (causal ? 0.5 : 1.0);
  const double mlp =
      2.0 * static_cast<double>(mlp_matrices(model)) * h * static_cast<double>(model.ffn_hidden);
  const double head = 2.0 * h * static_cast<double>(model.vocabulary);
  return Flops(static_cast<double>(model.layers) * (qkv + projection + attention + mlp) + head);
}

}  // namespace headway
