#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr std::string_view kPattern = "hybrid_override_pattern";
constexpr std::string_view kTypes = "layers_block_type";

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
  model.layer_pattern = letters_of(reader, kTypes).value_or(reader.text(kPattern, ""));
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

constexpr const char* kChannelsHelp =
    "channels are the hidden size times what it is expanded by, or of Falcon-H1 \"mamba_d_ssm\"";

/// Heads have to make up the expanded channels.
void check_channels(ObjectReader& reader, std::string_view heads_key, std::int64_t heads,
                    std::int64_t head_size, std::int64_t channels) {
  if (heads * head_size == channels) return;
  reader.report(heads_key, "the heads must make up the expanded channels",
                fmt::format("{} of {} are not {}", heads, head_size, channels), kChannelsHelp);
}

std::int64_t expanded_channels(ObjectReader& reader, std::int64_t hidden) {
  return hidden * given_count(reader, "mamba_expand", between(1, 1000), 2);
}

/// "auto" stands for an even share of the channels.
std::int64_t read_mamba_head(ObjectReader& reader, std::int64_t channels, std::int64_t heads) {
  constexpr std::string_view kHead = "mamba_d_head";
  const std::optional<JsonCursor> given_head = given(reader.cursor(), kHead);
  if (given_head && given_head->text() != "auto") {
    const std::int64_t head = reader.integer(kHead, model_limits::kHeadSize);
    if (!reader.diagnostics().has_errors()) {
      check_channels(reader, "mamba_n_heads", heads, head, channels);
    }
    return head;
  }
  if (channels % heads == 0) return channels / heads;
  reader.report("mamba_n_heads", "the heads must divide the expanded channels",
                fmt::format("{} does not divide {}", heads, channels), kChannelsHelp);
  return 1;
}

/// State spaces as Granite, Bamba and Falcon-H1 call what is in them.
StateSpace read_named_state_space(ObjectReader& reader, std::int64_t channels) {
  const std::int64_t heads = reader.integer("mamba_n_heads", model_limits::kHeads);
  return {.heads = heads,
          .head_size = read_mamba_head(reader, channels, heads),
          .state_size = reader.integer("mamba_d_state", model_limits::kStateSize),
          .groups = given_count(reader, "mamba_n_groups", model_limits::kHeads, 1),
          .convolution = given_count(reader, "mamba_d_conv", model_limits::kConvolution, 4),
          .chunk = given_count(reader, "mamba_chunk_size", model_limits::kChunk, 256)};
}

/// Falcon-H1: a state space and attention side by side behind one norm, of two counted, and an MLP
/// behind them. The norm of a state space is counted whether it has one or not: with the other, two
/// hundredths of a percent of the parameters.
void read_falcon_h1(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.mlp_bias = given_flag(reader, "mlp_bias", false);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    model.layer_pattern += {half_layer::kStateSpace, half_layer::kAttention, half_layer::kMlp};
  }
  model.layers = std::ssize(model.layer_pattern);
  const std::int64_t expanded = expanded_channels(reader, model.hidden);
  model.state_space = read_named_state_space(
      reader, given_count(reader, "mamba_d_ssm", model_limits::kHidden, expanded));
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "num_hidden_layers");
}

/// Granite 4: state spaces and a few layers of attention, each with a gated MLP or experts behind.
void read_granite_hybrid(ObjectReader& reader, TransformerModel& model) {
  const std::int64_t experts = given_count(reader, "num_local_experts", between(0, 100'000), 8);
  const std::int64_t shared =
      reader.integer("shared_intermediate_size", model_limits::kSharedHidden);
  const std::int64_t routed = reader.integer("intermediate_size", model_limits::kFfnHidden);
  read_llama_shape(reader, model, experts > 0 ? routed : shared);
  if (reader.text("position_embedding_type", "nope") == "nope") {
    model.position_encoding = PositionEncoding::none;
  }
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  const std::string mixers = read_mixers(reader, model.layers, half_layer::kStateSpace, "mamba");
  model.layer_pattern =
      with_second_halves(mixers, experts > 0 ? half_layer::kExperts : half_layer::kMlp);
  model.layers *= 2;
  model.state_space = read_named_state_space(reader, expanded_channels(reader, model.hidden));
  if (experts > 0) {
    set_experts(
        reader, model,
        {.experts = experts,
         .experts_per_token = reader.integer("num_experts_per_tok", model_limits::kExpertsPerToken),
         .expert_hidden = routed,
         .shared_expert_hidden = shared});
  }
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
}

/// Nothing but state spaces. The list of the layers says nothing of attention, which none has.
void read_mamba2(ObjectReader& reader, TransformerModel& model) {
  const std::int64_t expand = given_count(reader, "expand", between(1, 1000), 2);
  read_llama_shape(reader, model, expand * model.hidden);
  model.position_encoding = PositionEncoding::none;
  model.layer_pattern =
      std::string(static_cast<std::size_t>(model.layers), half_layer::kStateSpace);
  model.state_space =
      StateSpace{.heads = model.attention_heads,
                 .head_size = model.head_size,
                 .state_size = given_count(reader, "state_size", model_limits::kStateSize, 128),
                 .groups = given_count(reader, "n_groups", model_limits::kHeads, 8),
                 .convolution = given_count(reader, "conv_kernel", model_limits::kConvolution, 4),
                 .chunk = given_count(reader, "chunk_size", model_limits::kChunk, 256)};
  if (reader.diagnostics().has_errors()) return;
  check_channels(reader, "num_heads", model.attention_heads, model.head_size,
                 expand * model.hidden);
  check_mixers(model, reader, "num_hidden_layers");
}

/// State spaces and a few layers of attention, each with a gated MLP behind.
void read_bamba(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  const std::string mixers =
      read_listed_attention(reader, model.layers, "attn_layer_indices", half_layer::kStateSpace);
  model.layer_pattern = with_second_halves(mixers, half_layer::kMlp);
  model.layers *= 2;
  model.state_space = read_named_state_space(reader, expanded_channels(reader, model.hidden));
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "attn_layer_indices");
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

/// What a warning of experts that do nothing says of those that work.
void warn_of_idle_experts(ObjectReader& reader, std::int64_t working, std::int64_t picked) {
  constexpr std::string_view kKey = "zero_expert_num";
  const JsonCursor at = reader.cursor().member(kKey).value_or(reader.cursor());
  Diagnostic warning = at.problem(
      "experts that do nothing are taken to be picked as often as others", "",
      fmt::format("of {} that a token picks {} work; what they exchange is not hidden behind what "
                  "stands beside them",
                  picked, working));
  warning.severity = Severity::warning;
  reader.diagnostics().add(std::move(warning));
}

/// LongCat-Flash: two of latent attention and an MLP each a layer, and experts beside what is
/// between both attentions, which are counted as standing there, with a norm of their own. Some of
/// the experts do nothing, and the columns that a router has for them are not counted.
void read_longcat_flash(ObjectReader& reader, TransformerModel& model) {
  constexpr std::int64_t kLayers = 28;
  constexpr std::int64_t kFfnHidden = 12'288;
  constexpr ExpertKeys kKeys{.per_token = "moe_topk"};
  model.layers = given_count(reader, "num_layers", model_limits::kLayers, kLayers);
  // Counts each of the two.
  static_cast<void>(given_count(reader, "num_hidden_layers", model_limits::kLayers, 1));
  static_cast<void>(given_count(reader, "qk_head_dim", model_limits::kHeadSize, 1));
  read_llama_shape(reader, model,
                   given_count(reader, "ffn_hidden_size", model_limits::kFfnHidden, kFfnHidden));
  const auto latent = [&](std::string_view key, Range range, std::int64_t usual) {
    return given_count(reader, key, range, usual);
  };
  set_latent_attention(
      model, {.query_rank = latent("q_lora_rank", model_limits::kQueryRank, 1536),
              .key_value_rank = latent("kv_lora_rank", model_limits::kHidden, 512),
              .head_size_without_rotary = latent("qk_nope_head_dim", model_limits::kHeadSize, 128),
              .rotary_head_size = latent("qk_rope_head_dim", model_limits::kHeadSize, 64),
              .value_head_size = latent("v_head_dim", model_limits::kHeadSize, 128)});
  const std::int64_t idle = given_count(reader, "zero_expert_num", between(0, 100'000), 256);
  MixtureOfExperts mixture{
      .experts = given_count(reader, "n_routed_experts", model_limits::kExperts, 512),
      .experts_per_token = given_count(reader, kKeys.per_token, model_limits::kExpertsPerToken, 12),
      .expert_hidden =
          given_count(reader, "expert_ffn_hidden_size", model_limits::kFfnHidden, 2048)};
  const std::int64_t all = mixture.experts + idle;
  if (mixture.experts_per_token <= all) {  // rounded
    const std::int64_t picked = mixture.experts_per_token;
    mixture.experts_per_token =
        std::max<std::int64_t>(1, (2 * picked * mixture.experts + all) / (2 * all));
    if (idle > 0) warn_of_idle_experts(reader, mixture.experts_per_token, picked);
  }
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    model.layer_pattern += {half_layer::kAttention, half_layer::kExperts, half_layer::kMlp,
                            half_layer::kAttention, half_layer::kMlp};
  }
  model.layers = std::ssize(model.layer_pattern);
  set_experts(reader, model, mixture, kKeys);
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "num_layers");
}

constexpr FieldNames kLongcatNames{.layers = "num_layers",
                                   .default_attention_heads = 64,
                                   .default_vocabulary = 131'072,
                                   .default_sequence_length = 131'072};

/// Heads are those of its state spaces.
constexpr FieldNames kMamba2Names{.attention_heads = "num_heads",
                                  .default_attention_heads = 128,
                                  .default_head_size = 64,
                                  .default_sequence_length = 8192};

constexpr std::array<Family, 8> kHybridFamilies = {{
    {"nemotron_h", "NemotronHForCausalLM", {}, read_nemotron_h, true},
    {"granitemoehybrid", "GraniteMoeHybridForCausalLM", {}, read_granite_hybrid, true},
    {"mamba2", "Mamba2ForCausalLM", kMamba2Names, read_mamba2},
    {"bamba", "BambaForCausalLM", {}, read_bamba},
    {"glm_moe_dsa", "GlmMoeDsaForCausalLM", {}, read_deepseek_v32, true},
    {"deepseek_v32", "DeepseekV32ForCausalLM", {}, read_deepseek_v32, true},
    {"falcon_h1", "FalconH1ForCausalLM", {}, read_falcon_h1},
    {"longcat_flash", "LongcatFlashForCausalLM", kLongcatNames, read_longcat_flash, true},
}};

}  // namespace

std::span<const Family> hybrid_families() { return kHybridFamilies; }

}  // namespace headway
