#include "sim/jobs/activation_memory.h"

#include <algorithm>

#include "sim/jobs/adapters.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/models/operators.h"

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

/// Of the bytes of an input of a product, those that stay: it is kept as it was quantised.
double quantised_share(const Strategy& strategy) {
  const double element = working_bytes_per_element(strategy.precision);
  return std::min(element, bytes_per_element(strategy.precision)) / element;
}

void append_attention(std::vector<KeptTensor>& tensors, const TransformerModel& model,
                      const Strategy& strategy) {
  const double element = working_bytes_per_element(strategy.precision);
  const double t = strategy.tensor_parallel;
  const double heads = static_cast<double>(model.attention_heads) / t;
  const double kv_heads = std::max(1.0, static_cast<double>(model.kv_heads) / t);
  const double head_size = static_cast<double>(model.head_size);
  const double value_size = static_cast<double>(value_head_size(model));
  const double n = tokens(strategy);
  if (const auto& latent = model.latent_attention) {
    tensors.push_back(
        {"compressed queries", Bytes(n * static_cast<double>(latent->query_rank) * element)});
    tensors.push_back(
        {"compressed keys and values",
         Bytes(n * static_cast<double>(latent->key_value_rank + latent->rotary_head_size) *
               element)});
  }
  tensors.push_back({"queries", Bytes(n * heads * head_size * element)});
  tensors.push_back({"keys", Bytes(n * kv_heads * head_size * element)});
  tensors.push_back({"values", Bytes(n * kv_heads * value_size * element)});
  if (needs_input(strategy, AdapterTarget::projection) || strategy.fused_attention) {
    tensors.push_back({"projection input", Bytes(n * heads * value_size * element)});
  }
  const double narrow = quantised_share(strategy);
  if (strategy.fused_attention && narrow < 1.0 &&
      needs_input(strategy, AdapterTarget::projection)) {
    // The attention kernel wants its output as it was, the product its input quantised.
    tensors.push_back(
        {"projection input, quantised", Bytes(n * heads * value_size * element * narrow)});
  }
}

struct MlpTensorNames {
  std::string_view activation_input;
  std::string_view second_input;
  std::string_view gate;
};

/// Of `elements` inner elements: tokens times the inner size.
void append_mlp(std::vector<KeptTensor>& tensors, const TransformerModel& model,
                const Strategy& strategy, double elements, const MlpTensorNames& names) {
  const double bytes = elements * working_bytes_per_element(strategy.precision);
  tensors.push_back({names.activation_input, Bytes((model.gated_mlp ? 2.0 : 1.0) * bytes)});
  if (needs_input(strategy, AdapterTarget::fc2)) {
    tensors.push_back({names.second_input, quantised_share(strategy) * Bytes(bytes)});
  }
  if (model.gated_mlp && !strategy.fused_activation) {
    tensors.push_back({names.gate, Bytes(bytes)});
  }
}

void append_experts(std::vector<KeptTensor>& tensors, const TransformerModel& model,
                    const Strategy& strategy) {
  const MixtureOfExperts& mixture = *model.mixture_of_experts;
  const double residual = residual_elements(model, strategy) / static_cast<double>(model.hidden);
  const double rows =
      residual * strategy.expert_tensor_parallel * static_cast<double>(mixture.experts_per_token) *
      expert_load(mixture, {.expert_parallel = static_cast<double>(strategy.expert_parallel),
                            .expert_capacity = strategy.expert_capacity_factor,
                            .expert_imbalance = strategy.expert_imbalance});
  const double inner = static_cast<double>(mixture.expert_hidden) / strategy.expert_tensor_parallel;
  tensors.push_back({"router input", residual_bytes(model, strategy)});
  tensors.push_back({"expert FC1 input", quantised_share(strategy) *
                                             Bytes(rows * static_cast<double>(model.hidden) *
                                                   working_bytes_per_element(strategy.precision))});
  append_mlp(tensors, model, strategy, rows * inner,
             {"expert activation input", "expert FC2 input", "activated expert gate"});
  if (mixture.shared_expert_hidden > 0) {
    append_mlp(tensors, model, strategy,
               tokens(strategy) * static_cast<double>(mixture.shared_expert_hidden) /
                   strategy.tensor_parallel,
               {"shared activation input", "shared FC2 input", "activated shared gate"});
  }
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

std::vector<KeptTensor> kept_tensors(const TransformerModel& model, const Strategy& strategy,
                                     LayerKind kind) {
  const double element = working_bytes_per_element(strategy.precision);
  const double heads = static_cast<double>(model.attention_heads) / strategy.tensor_parallel;
  const double n = tokens(strategy);
  const double scores = n * static_cast<double>(strategy.sequence_length) * heads;

  const Bytes residual = residual_bytes(model, strategy);
  const Bytes mask(kMask * residual_elements(model, strategy));
  const bool unfused_norm =
      model.normalization == Normalization::rms_norm && !strategy.fused_normalization;
  const Bytes norm =
      unfused_norm ? Bytes(kUnfusedNorm * kFloat * residual_elements(model, strategy)) : residual;

  std::vector<KeptTensor> tensors = {{"attention norm input", norm}, {"MLP norm input", norm}};
  const double narrow = quantised_share(strategy);
  if (needs_input(strategy, AdapterTarget::qkv)) {
    tensors.push_back({"QKV input", narrow * residual});
  }
  append_attention(tensors, model, strategy);
  if (kind.experts) {
    append_experts(tensors, model, strategy);
  } else {
    if (needs_input(strategy, AdapterTarget::fc1)) {
      tensors.push_back({"FC1 input", narrow * residual});
    }
    append_mlp(tensors, model, strategy,
               n * static_cast<double>(model.ffn_hidden) / strategy.tensor_parallel,
               {"activation input", "FC2 input", "activated gate"});
  }
  if (strategy.fused_attention) {
    tensors.push_back({"attention log-sum-exp", Bytes(n * heads * kFloat)});
  } else {
    tensors.push_back({"softmax output", Bytes(scores * element)});
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

Bytes recomputing_layer_bytes(const TransformerModel& model, const Strategy& strategy,
                              LayerKind kind) {
  if (strategy.recompute == Recompute::full) return residual_bytes(model, strategy);
  const RecomputePlan plan = recompute_plan(strategy);
  Bytes kept;
  for (const KeptTensor& tensor : kept_tensors(model, strategy, kind)) {
    kept += (1.0 - plan.tensor_share(tensor.name)) * tensor.bytes;
  }
  return kept;
}

Bytes recomputed_bytes(const TransformerModel& model, const Strategy& strategy, LayerKind kind) {
  if (strategy.recompute == Recompute::none) return Bytes(0.0);
  const RecomputePlan plan = recompute_plan(strategy);
  const bool full = strategy.recompute == Recompute::full;
  Bytes dropped;
  for (const KeptTensor& tensor : kept_tensors(model, strategy, kind)) {
    dropped += (full ? 1.0 : plan.tensor_share(tensor.name)) * tensor.bytes;
  }
  // Full recomputation starts from the layer's input, which stays.
  return full ? dropped - residual_bytes(model, strategy) : dropped;
}

}  // namespace headway
