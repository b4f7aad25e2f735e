#include "sim/model/operators.h"

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

/// Its input stands split over `parts` devices, which gather it.
LinearOperator gathered(LinearOperator linear, double parts) {
  linear.input_elements /= parts;
  return linear;
}

}  // namespace

Operators layer_operators(const TransformerModel& model, const ShardShape& shard) {
  const double h = static_cast<double>(model.hidden);
  const double d = static_cast<double>(model.head_size);
  const double parts = shard.tensor_parallel;
  // What stands on one device of the tensor-parallel group.
  const double query_heads = static_cast<double>(model.attention_heads) / parts;
  const double key_heads = static_cast<double>(model.kv_heads) / parts;
  const double ffn = static_cast<double>(model.ffn_hidden) / parts;
  const double tokens = shard.tokens();
  const double sequence_parts = shard.sequence_parallel ? parts : 1.0;
  const double norm_tokens = tokens / sequence_parts;

  Operators operators;
  operators.linears = {
      gathered(linear("qkv", tokens, (query_heads + 2.0 * key_heads) * d, h), sequence_parts),
      linear("projection", tokens, h, query_heads * d),
      gathered(linear("fc1", tokens, (model.gated_mlp ? 2.0 : 1.0) * ffn, h), sequence_parts),
      linear("fc2", tokens, h, ffn),
  };
  // With context parallel each device holds 1/context_parallel of the queries and sees every key;
  // the usual zigzag cut gives each the same share of the causal half (Llama 3, 2024, section
  // 3.3.2).
  // Where heads are scattered, it has every query of 1/context_parallel of the heads (Jacobs et al.
  // 2023, section 3.1).
  const double head_parts = shard.scattered_heads ? shard.context_parallel : 1.0;
  const double query_parts = shard.scattered_heads ? 1.0 : shard.context_parallel;
  operators.attention = {{
      .sequences = shard.micro_batch * shard.sequence_length / shard.attention_length(),
      .query_length = shard.attention_length() / query_parts,
      .key_length = shard.attention_length(),
      .query_heads = query_heads / head_parts,
      .key_heads = key_heads / head_parts,
      .head_size = d,
      .causal = true,
  }};
  operators.memory_passes = {
      pass("norm_residual_dropout", norm_tokens * kNormBytes * h),
      pass(kActivationPass,
           tokens * (model.gated_mlp ? kGatedActivationBytes : kPlainActivationBytes) * ffn),
  };
  if (model.position_encoding == PositionEncoding::rotary && shard.fused_attention) {
    operators.memory_passes.push_back(
        pass("rotary", tokens * kRotaryBytes * (query_heads + key_heads) * d));
  }
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
