#include "sim/models/operators.h"

#include <algorithm>
#include <limits>

namespace headway {
namespace {

// Traffic per token, in bytes for each channel, as the study of public training steps fits it in
// tensors of 2 bytes (the kernels' efficiency is the profile's matter).
constexpr double kNormBytes = 20.0;             ///< two norms, two residual sums, two dropouts
constexpr double kRotaryBytes = 4.0;            ///< queries and keys, read and written
constexpr double kGatedActivationBytes = 6.0;   ///< two halves read, their product written
constexpr double kPlainActivationBytes = 4.0;   ///< read and written
constexpr double kCrossEntropyForward = 6.0;    ///< a logit; both passes together are fitted at 18,
constexpr double kCrossEntropyBackward = 12.0;  ///< between 16 and 20, in 4-byte logits
constexpr double kBackwardRatio = 2.0;  ///< backward reads the saved tensor and the gradient

constexpr double kElement = 2.0;        ///< bytes of an activation
constexpr double kGatherPasses = 2.0;   ///< the row is read, the output written
constexpr double kScatterPasses = 3.0;  ///< the gradient is read, the row read and written
constexpr double kSumPasses = 3.0;      ///< both terms are read, their sum written

MemoryOperator pass(std::string_view name, double forward_bytes) {
  return {.name = name,
          .forward = Bytes(forward_bytes),
          .backward = Bytes(kBackwardRatio * forward_bytes)};
}

LinearOperator linear(std::string_view name, double m, double n, double k) {
  return {.name = name, .forward = {.m = m, .n = n, .k = k}, .input_elements = m * k};
}

/// Split by columns; its input stands split over `parts` devices, which gather it.
LinearOperator column_parallel(LinearOperator linear, double parts) {
  linear.input_elements /= parts;
  linear.column_parallel = true;
  return linear;
}

/// Query, key and value sizes of attention on one device.
struct Heads {
  double query_heads;
  double key_heads;
};
Heads heads_of(const TransformerModel& model, const ShardShape& shard) {
  return {static_cast<double>(model.attention_heads) / shard.tensor_parallel,
          static_cast<double>(model.kv_heads) / shard.tensor_parallel};
}

/// With context parallel each device holds 1/context_parallel of the queries and sees every key;
/// the usual zigzag cut gives each the same share of the causal half (Llama 3, 2024,
/// section 3.3.2).
AttentionShape attention_shape(const TransformerModel& model, const ShardShape& shard,
                               LayerKind kind) {
  const Heads heads = heads_of(model, shard);
  // Where heads are scattered, it has every query of 1/context_parallel of the heads (Jacobs et al.
  // 2023, section 3.1).
  const double head_parts = shard.scattered_heads ? shard.context_parallel : 1.0;
  const double query_parts = shard.scattered_heads ? 1.0 : shard.context_parallel;
  return {.sequences = shard.micro_batch * shard.sequence_length / shard.attention_length(),
          .query_length = shard.attention_length() / query_parts,
          .key_length = shard.attention_length(),
          .query_heads = heads.query_heads / head_parts,
          .key_heads = heads.key_heads / head_parts,
          .head_size = static_cast<double>(model.head_size),
          .value_head_size = model.latent_attention
                                 ? static_cast<double>(model.latent_attention->value_head_size)
                                 : 0.0,
          .causal = true,
          .window = kind.windowed ? static_cast<double>(model.sliding_window->size) : 0.0,
          .sinks = model.attention_sinks};
}

void add_rotary(Operators& operators, const TransformerModel& model, const ShardShape& shard,
                double elements) {
  if (model.position_encoding != PositionEncoding::rotary || !shard.fused_attention) return;
  operators.memory_passes.push_back(pass("rotary", shard.tokens() * kRotaryBytes * elements));
}

void add_attention(Operators& operators, const TransformerModel& model, const ShardShape& shard,
                   LayerKind kind) {
  const double h = static_cast<double>(model.hidden);
  const double d = static_cast<double>(model.head_size);
  const auto [query_heads, key_heads] = heads_of(model, shard);
  const double tokens = shard.tokens();
  const double sequence_parts = shard.sequence_parallel ? shard.tensor_parallel : 1.0;
  operators.linears.push_back(column_parallel(
      linear("qkv", tokens, (query_heads + 2.0 * key_heads) * d, h), sequence_parts));
  operators.linears.push_back(linear("projection", tokens, h, query_heads * d));
  operators.attention = {attention_shape(model, shard, kind)};
  add_rotary(operators, model, shard, (query_heads + key_heads) * d);
}

/// The narrow products work on the tokens of the residual stream, before sequence-parallel devices
/// gather them (Megatron-Core, multi_latent_attention.py).
void add_latent_attention(Operators& operators, const TransformerModel& model,
                          const ShardShape& shard, LayerKind kind) {
  const LatentAttention& latent = *model.latent_attention;
  const double h = static_cast<double>(model.hidden);
  const double d = static_cast<double>(model.head_size);
  const double query_rank = static_cast<double>(latent.query_rank);
  const double key_value_rank = static_cast<double>(latent.key_value_rank);
  const double rotary = static_cast<double>(latent.rotary_head_size);
  const double plain = static_cast<double>(latent.head_size_without_rotary);
  const double value = static_cast<double>(latent.value_head_size);
  const double heads = heads_of(model, shard).query_heads;
  const double tokens = shard.tokens();
  const double own = shard.residual_tokens();

  auto& linears = operators.linears;
  if (latent.query_rank > 0) {
    linears.push_back(linear("query_down", own, query_rank, h));
    linears.push_back(
        column_parallel(linear(kUpProjections[0], tokens, heads * d, query_rank), 1.0));
  } else {
    linears.push_back(column_parallel(linear("query", tokens, heads * d, h), tokens / own));
  }
  linears.push_back(linear("key_value_down", own, key_value_rank + rotary, h));
  linears.push_back(column_parallel(
      linear(kUpProjections[1], tokens, heads * (plain + value), key_value_rank), 1.0));
  linears.push_back(linear("projection", tokens, h, heads * value));
  operators.attention = {attention_shape(model, shard, kind)};
  // The rotary part of the queries in place; keys are put together from both parts.
  add_rotary(operators, model, shard, heads * (rotary + d));
}

struct MlpNames {
  std::string_view inward;
  std::string_view outward;
  std::string_view activation;
};

double activation_bytes(const TransformerModel& model) {
  return model.gated_mlp ? kGatedActivationBytes : kPlainActivationBytes;
}

void add_mlp(Operators& operators, const TransformerModel& model, const ShardShape& shard,
             double ffn_hidden, const MlpNames& names) {
  const double h = static_cast<double>(model.hidden);
  const double ffn = ffn_hidden / shard.tensor_parallel;
  const double tokens = shard.tokens();
  operators.linears.push_back(
      column_parallel(linear(names.inward, tokens, (model.gated_mlp ? 2.0 : 1.0) * ffn, h),
                      shard.sequence_parallel ? shard.tensor_parallel : 1.0));
  operators.linears.push_back(linear(names.outward, tokens, h, ffn));
  operators.memory_passes.push_back(pass(names.activation, tokens * activation_bytes(model) * ffn));
}

/// Every device routes the tokens of its residual stream, and works on those that others send to
/// its experts; devices that split an expert all have the tokens of each other.
void add_experts(Operators& operators, const TransformerModel& model, const ShardShape& shard) {
  const MixtureOfExperts& mixture = *model.mixture_of_experts;
  const double h = static_cast<double>(model.hidden);
  const double experts = static_cast<double>(mixture.experts);
  const double local = experts / shard.expert_parallel;
  const double inner = static_cast<double>(mixture.expert_hidden) / shard.expert_tensor_parallel;
  const double rows = shard.residual_tokens() * shard.expert_tensor_parallel *
                      static_cast<double>(mixture.experts_per_token) * expert_load(mixture, shard);

  operators.linears.push_back(linear("router", shard.residual_tokens(), experts, h));
  operators.linears.back().input_elements = 0.0;
  operators.linears.back().wide = true;
  operators.grouped = {{"expert_fc1",
                        local,
                        {.m = rows / local, .n = (model.gated_mlp ? 2.0 : 1.0) * inner, .k = h}},
                       {"expert_fc2", local, {.m = rows / local, .n = h, .k = inner}}};
  operators.memory_passes.push_back(
      pass(kExpertActivationPass, rows * activation_bytes(model) * inner));
  operators.permuted_elements = rows * h;
  if (mixture.shared_expert_hidden > 0) {
    add_mlp(operators, model, shard, static_cast<double>(mixture.shared_expert_hidden),
            {"shared_fc1", "shared_fc2", kSharedActivationPass});
  }
}

}  // namespace

Operators layer_operators(const TransformerModel& model, const ShardShape& shard, LayerKind kind) {
  const double h = static_cast<double>(model.hidden);
  Operators operators;
  operators.memory_passes = {
      pass("norm_residual_dropout", shard.residual_tokens() * kNormBytes * h)};
  if (model.latent_attention) {
    add_latent_attention(operators, model, shard, kind);
  } else {
    add_attention(operators, model, shard, kind);
  }
  if (kind.experts) {
    add_experts(operators, model, shard);
  } else {
    add_mlp(operators, model, shard, static_cast<double>(model.ffn_hidden),
            {"fc1", "fc2", kActivationPass});
  }
  return operators;
}

double expert_load(const MixtureOfExperts& mixture, const ShardShape& shard) {
  const double experts = static_cast<double>(mixture.experts);
  const double local = experts / shard.expert_parallel;
  const double most =
      shard.expert_capacity > 0.0 ? shard.expert_capacity : std::numeric_limits<double>::infinity();
  const double busiest = std::min(shard.expert_imbalance, most);
  if (experts <= 1.0) return busiest;
  const double others = std::min((experts - shard.expert_imbalance) / (experts - 1.0), most);
  return (busiest + (local - 1.0) * others) / local;
}

Operators prediction_join_operators(const TransformerModel& model, const ShardShape& shard) {
  const double h = static_cast<double>(model.hidden);
  Operators operators;
  operators.linears = {
      column_parallel(linear("prediction_join", shard.tokens(), h / shard.tensor_parallel, 2.0 * h),
                      shard.sequence_parallel ? shard.tensor_parallel : 1.0)};
  operators.memory_passes = {
      pass("norm_residual_dropout", shard.residual_tokens() * kNormBytes * h)};
  return operators;
}

Operators head_operators(const TransformerModel& model, const ShardShape& shard) {
  const double tokens = shard.tokens();
  const double vocabulary = static_cast<double>(model.vocabulary) / shard.tensor_parallel;

  Operators operators;
  operators.linears = {linear("head", tokens, vocabulary, static_cast<double>(model.hidden))};
  operators.memory_passes = {{
      .name = "cross_entropy",
      .forward = Bytes(tokens * vocabulary * kCrossEntropyForward),
      .backward = Bytes(tokens * vocabulary * kCrossEntropyBackward),
  }};
  return operators;
}

Operators embedding_operators(const TransformerModel& model, const ShardShape& shard) {
  // A table cut over its rows leaves every device with a whole output: those of foreign rows are
  // zero until the devices sum up (Shoeybi et al. 2019, section 3).
  const double row_bytes = shard.tokens() * static_cast<double>(model.hidden) * kElement;

  Operators operators;
  operators.memory_passes = {{
      .name = "token_embedding",
      .forward = Bytes(kGatherPasses * row_bytes),
      .backward = Bytes(kScatterPasses * row_bytes),
  }};
  if (model.position_encoding == PositionEncoding::learned) {
    operators.memory_passes.push_back({
        .name = "position_embedding",
        .forward = Bytes(kSumPasses * row_bytes),
        .backward = Bytes(kScatterPasses * row_bytes),
    });
  }
  return operators;
}

}  // namespace headway
