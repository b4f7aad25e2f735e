#include "sim/strategy/activation_memory.h"

#include <algorithm>

#include "sim/strategy/adapters.h"
#include "sim/strategy/recompute.h"

namespace headway {
namespace {

constexpr double kMask = 1.0;    ///< bytes of a dropout decision
constexpr double kFloat = 4.0;   ///< bytes of an fp32 number
constexpr int kUnfusedNorm = 2;  ///< fp32 tensors that an RMS norm of elementary operations keeps

bool has_dropout(const TransformerModel& model) {
  return model.position_encoding == PositionEncoding::learned;
}

double tokens(const Strategy& strategy) {
  return static_cast<double>(strategy.micro_batch) * static_cast<double>(strategy.sequence_length) /
         strategy.context_parallel;
}

/// Whether something in the backward pass needs the input of this matrix: its gradient, or that of
/// the adapter beside it.
bool needs_input(const Strategy& strategy, AdapterTarget target) {
  return !trains_adapters(strategy) || has_adapter(strategy, target);
}

/// Numbers in the residual stream of one rank.
double residual_elements(const TransformerModel& model, const Strategy& strategy) {
  return tokens(strategy) * static_cast<double>(model.hidden) /
         (strategy.sequence_parallel ? strategy.tensor_parallel : 1);
}

}  // namespace

double working_bytes_per_element(Precision precision) {
  return std::max(bytes_per_element(precision), 2.0);
}

Bytes residual_bytes(const TransformerModel& model, const Strategy& strategy) {
  return Bytes(residual_elements(model, strategy) * working_bytes_per_element(strategy.precision));
}

Bytes embedding_dropout_bytes(const TransformerModel& model, const Strategy& strategy) {
  return Bytes(has_dropout(model) ? kMask * residual_elements(model, strategy) : 0.0);
}

std::vector<KeptTensor> kept_tensors(const TransformerModel& model, const Strategy& strategy) {
  const double element = working_bytes_per_element(strategy.precision);
  const double t = strategy.tensor_parallel;
  const double heads = static_cast<double>(model.attention_heads) / t;
  const double kv_heads = std::max(1.0, static_cast<double>(model.kv_heads) / t);
  const double head_size = static_cast<double>(model.head_size);
  const double ffn = static_cast<double>(model.ffn_hidden) / t;
  const double n = tokens(strategy);
  const double scores = n * static_cast<double>(strategy.sequence_length) * heads;

  // Inputs of products stay as they were quantised.
  const double narrow = std::min(element, bytes_per_element(strategy.precision)) / element;

  const Bytes residual = residual_bytes(model, strategy);
  const Bytes mask(kMask * residual_elements(model, strategy));
  const bool unfused_norm =
      model.normalization == Normalization::rms_norm && !strategy.fused_normalization;
  const Bytes norm =
      unfused_norm ? Bytes(kUnfusedNorm * kFloat * residual_elements(model, strategy)) : residual;

  std::vector<KeptTensor> tensors = {
      {"attention norm input", norm},
      {"queries", Bytes(n * heads * head_size * element)},
      {"keys", Bytes(n * kv_heads * head_size * element)},
      {"values", Bytes(n * kv_heads * head_size * element)},
      {"MLP norm input", norm},
      {"activation input", Bytes((model.gated_mlp ? 2.0 : 1.0) * n * ffn * element)},
  };
  if (needs_input(strategy, AdapterTarget::qkv)) {
    tensors.push_back({"QKV input", narrow * residual});
  }
  if (needs_input(strategy, AdapterTarget::projection) || strategy.fused_attention) {
    tensors.push_back({"projection input", Bytes(n * heads * head_size * element)});
  }
  if (strategy.fused_attention && narrow < 1.0 &&
      needs_input(strategy, AdapterTarget::projection)) {
    // The attention kernel wants its output as it was, the product its input quantised.
    tensors.push_back(
        {"projection input, quantised", Bytes(n * heads * head_size * element * narrow)});
  }
  if (needs_input(strategy, AdapterTarget::fc1)) {
    tensors.push_back({"FC1 input", narrow * residual});
  }
  if (needs_input(strategy, AdapterTarget::fc2)) {
    tensors.push_back({"FC2 input", Bytes(n * ffn * element * narrow)});
  }
  if (strategy.fused_attention) {
    tensors.push_back({"attention log-sum-exp", Bytes(n * heads * kFloat)});
  } else {
    tensors.push_back({"softmax output", Bytes(scores * element)});
  }
  if (model.gated_mlp && !strategy.fused_activation) {
    tensors.push_back({"activated gate", Bytes(n * ffn * element)});
  }
  if (has_dropout(model)) {
    tensors.push_back({"attention dropout mask", mask});
    tensors.push_back({"MLP dropout mask", mask});
  }
  if (has_dropout(model) && !strategy.fused_attention) {
    tensors.push_back({"softmax dropout mask", Bytes(scores * kMask)});
    tensors.push_back({"softmax dropout output", Bytes(scores * element)});
  }
  return tensors;
}

Bytes recomputing_layer_bytes(const TransformerModel& model, const Strategy& strategy) {
  if (strategy.recompute == Recompute::full) return residual_bytes(model, strategy);
  const RecomputePlan plan = recompute_plan(strategy);
  Bytes kept;
  for (const KeptTensor& tensor : kept_tensors(model, strategy)) {
    kept += (1.0 - plan.tensor_share(tensor.name)) * tensor.bytes;
  }
  return kept;
}

Bytes recomputed_bytes(const TransformerModel& model, const Strategy& strategy) {
  if (strategy.recompute == Recompute::none) return Bytes(0.0);
  const RecomputePlan plan = recompute_plan(strategy);
  const bool full = strategy.recompute == Recompute::full;
  Bytes dropped;
  for (const KeptTensor& tensor : kept_tensors(model, strategy)) {
    dropped += (full ? 1.0 : plan.tensor_share(tensor.name)) * tensor.bytes;
  }
  // Full recomputation starts from the layer's input, which stays.
  return full ? dropped - residual_bytes(model, strategy) : dropped;
}

}  // namespace headway
