#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/layer_fields.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr std::string_view kPattern = "hybrid_override_pattern";
constexpr std::string_view kTypes = "layers_block_type";

/// What "layers_block_type" calls a layer, by older names too.
constexpr std::array<Word<char>, 6> kLayerWords = {{{"linear_attention", half_layer::kStateSpace},
                                                    {"mamba", half_layer::kStateSpace},
                                                    {"full_attention", half_layer::kAttention},
                                                    {"attention", half_layer::kAttention},
                                                    {"mlp", half_layer::kMlp},
                                                    {"moe", half_layer::kExperts}}};

/// The pattern, or the list that later configurations have instead.
std::string read_pattern(ObjectReader& reader) {
  const std::optional<JsonCursor> types = given(reader.cursor(), kTypes);
  if (!types || !types->value().is_array()) return reader.text(kPattern, "");
  std::string pattern;
  for (const nlohmann::json& type : types->value()) {
    const auto* const word = std::ranges::find_if(
        kLayerWords, [&](const Word<char>& known) { return type == known.first; });
    // What is no layer is reported with the pattern.
    pattern += word == kLayerWords.end() ? '?' : word->second;
  }
  return pattern;
}

StateSpace read_state_space(ObjectReader& reader) {
  return {.heads = reader.integer("mamba_num_heads", model_limits::kHeads),
          .head_size = reader.integer("mamba_head_dim", model_limits::kHeadSize),
          .state_size = reader.integer("ssm_state_size", model_limits::kStateSize),
          .groups = given_count(reader, "n_groups", model_limits::kHeads, 1),
          .convolution = given_count(reader, "conv_kernel", model_limits::kConvolution, 4),
          .chunk = given_count(reader, "chunk_size", model_limits::kChunk, 256)};
}

MixtureOfExperts read_plain_experts(ObjectReader& reader) {
  const std::int64_t shared = given_count(reader, "n_shared_experts", between(0, 1000), 0);
  MixtureOfExperts mixture{
      .experts = reader.integer("n_routed_experts", model_limits::kExperts),
      .experts_per_token = reader.integer("num_experts_per_tok", model_limits::kExpertsPerToken),
      .expert_hidden = reader.integer("moe_intermediate_size", model_limits::kFfnHidden)};
  mixture.shared_expert_hidden =
      shared * given_count(reader, "moe_shared_expert_intermediate_size",
                           model_limits::kSharedHidden, mixture.expert_hidden);
  return mixture;
}

/// One half a layer, as the pattern says: Mamba-2, attention without positions, MLPs of two
/// matrices (squared ReLU), experts.
void read_nemotron_h(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.gated_mlp = false;
  model.position_encoding = PositionEncoding::none;
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.mlp_bias = given_flag(reader, "mlp_bias", false);
  model.head_size =
      given_count(reader, "attention_head_dim", model_limits::kHeadSize, model.head_size);
  model.layer_pattern = read_pattern(reader);
  if (model.layer_pattern.find(half_layer::kStateSpace) != std::string::npos) {
    model.state_space = read_state_space(reader);
  }
  if (model.layer_pattern.find(half_layer::kExperts) != std::string::npos) {
    set_experts(reader, model, read_plain_experts(reader));
  }
  if (model.layer_pattern.empty()) {
    reader.report(kPattern, "the pattern of the layers is missing", "",
                  "a letter a layer: M a state space, * attention, - an MLP, E experts");
  }
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, kPattern);
}

DeltaNet read_delta_net(ObjectReader& reader) {
  constexpr std::int64_t kEveryFourth = 4;
  DeltaNet net{
      .key_heads = reader.integer("linear_num_key_heads", model_limits::kHeads),
      .value_heads = reader.integer("linear_num_value_heads", model_limits::kHeads),
      .key_head_size = reader.integer("linear_key_head_dim", model_limits::kHeadSize),
      .value_head_size = reader.integer("linear_value_head_dim", model_limits::kHeadSize),
      .convolution = given_count(reader, "linear_conv_kernel_dim", model_limits::kConvolution, 4),
      .full_attention_interval = given_count(reader, "full_attention_interval",
                                             model_limits::kFullAttentionInterval, kEveryFourth)};
  if (const auto interval = interval_of_full_attention(reader)) {
    net.full_attention_interval = *interval;
  }
  return net;
}

/// Three gated delta nets to a layer with gated attention; experts, and a shared one, whose gate of
/// one column is not counted.
void read_qwen3_next(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.attention_gate = true;
  model.delta_net = read_delta_net(reader);
  MixtureOfExperts mixture{
      .experts = reader.integer("num_experts", model_limits::kExperts),
      .experts_per_token = reader.integer("num_experts_per_tok", model_limits::kExpertsPerToken),
      .expert_hidden = reader.integer("moe_intermediate_size", model_limits::kFfnHidden)};
  mixture.shared_expert_hidden =
      given_count(reader, "shared_expert_intermediate_size", model_limits::kSharedHidden, 0);
  mixture.interval = given_count(reader, "decoder_sparse_step", model_limits::kLayers, 1);
  refuse_single_dense_layers(reader);
  set_experts(reader, model, mixture);
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
}

/// DeepSeek-V3 with an indexer, which picks what latent attention attends to.
void read_deepseek_v32(ObjectReader& reader, TransformerModel& model) {
  read_deepseek(reader, model);
  model.sparse_attention = {
      .positions = reader.integer("index_topk", model_limits::kSequenceLength),
      .index_heads = reader.integer("index_n_heads", model_limits::kHeads),
      .index_head_size = reader.integer("index_head_dim", model_limits::kHeadSize)};
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "index_topk");
}

constexpr std::array<Family, 3> kHybridFamilies = {{
    {"nemotron_h", "NemotronHForCausalLM", {}, read_nemotron_h, true},
    {"qwen3_next", "Qwen3NextForCausalLM", {}, read_qwen3_next, true},
    {"deepseek_v32", "DeepseekV32ForCausalLM", {}, read_deepseek_v32, true},
}};

}  // namespace

std::span<const Family> hybrid_families() { return kHybridFamilies; }

}  // namespace headway
