// Families whose layers have linear attention or short filters in the place of most attention.
#include <fmt/format.h>

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

/// Mixers of MiniMax: where attention is, "layer_types" says, or in the published files a list of
/// numbers; every second layer has it where neither is there.
std::string read_minimax_mixers(ObjectReader& reader, std::int64_t layers) {
  constexpr std::string_view kNumbers = "attn_type_list";
  if (given(reader.cursor(), "layer_types")) {
    return read_mixers(reader, layers, half_layer::kStateSpace, "linear_attention");
  }
  std::string mixers;
  if (!given(reader.cursor(), kNumbers)) {
    for (std::int64_t i = 0; i < layers; ++i) {
      mixers += i % 2 == 0 ? half_layer::kAttention : half_layer::kStateSpace;
    }
    return mixers;
  }
  const auto numbers = reader.integers(kNumbers, between(0, 1), true);
  if (!numbers) return mixers;
  for (const std::int64_t number : *numbers) {
    mixers += number == 1 ? half_layer::kAttention : half_layer::kStateSpace;
  }
  if (std::ssize(mixers) != layers) {
    reader.report(kNumbers, "attn_type_list has the mixer of every layer",
                  fmt::format("{} for {} layers", mixers.size(), layers),
                  "write 0 for linear attention, 1 for attention");
  }
  return mixers;
}

/// Lightning attention: a head adds keys and values up in a state that fades at a fixed rate, which
/// is Mamba-2 whose heads share nothing (Dao and Gu 2024, section 5), with a gate and a norm
/// behind. Counted though it has none are a filter, of one position, and a step for each head:
/// less than a hundredth of a percent of the parameters.
void read_minimax(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  const std::string mixers = read_minimax_mixers(reader, model.layers);
  model.layer_pattern = with_second_halves(mixers, half_layer::kExperts);
  model.layers *= 2;
  if (mixers.find(half_layer::kStateSpace) != std::string::npos) {
    model.state_space =
        StateSpace{.heads = model.attention_heads,
                   .head_size = model.head_size,
                   .state_size = model.head_size,
                   .groups = model.attention_heads,
                   .convolution = 1,
                   .chunk = given_count(reader, "block_size", model_limits::kChunk, 256)};
  }
  set_experts(
      reader, model,
      {.experts = reader.integer("num_local_experts", model_limits::kExperts),
       .experts_per_token = reader.integer("num_experts_per_tok", model_limits::kExpertsPerToken),
       .expert_hidden = model.ffn_hidden});
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
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

/// Three gated delta nets to a layer with gated attention.
void read_gated_layers(ObjectReader& reader, TransformerModel& model) {
  model.qkv_bias = model.projection_bias = given_flag(reader, "attention_bias", false);
  model.query_key_norms = QueryKeyNorms::each_head;
  model.attention_gate = true;
  model.delta_net = read_delta_net(reader);
  model.multi_token_prediction_layers =
      given_count(reader, "mtp_num_hidden_layers", model_limits::kPredictionLayers, 0);
}

void read_qwen3_5(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  read_gated_layers(reader, model);
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
}

/// Experts in every layer, and a shared one, whose gate of one column is not counted.
void read_qwen3_next(ObjectReader& reader, TransformerModel& model) {
  MixtureOfExperts mixture{
      .experts = reader.integer("num_experts", model_limits::kExperts),
      .experts_per_token = reader.integer("num_experts_per_tok", model_limits::kExpertsPerToken),
      .expert_hidden = reader.integer("moe_intermediate_size", model_limits::kFfnHidden)};
  mixture.shared_expert_hidden =
      given_count(reader, "shared_expert_intermediate_size", model_limits::kSharedHidden, 0);
  mixture.interval = given_count(reader, "decoder_sparse_step", model_limits::kLayers, 1);
  // The MLP of layers without experts, which Qwen3.5's configurations leave out as there are none.
  read_llama_shape(
      reader, model,
      given_count(reader, "intermediate_size", model_limits::kFfnHidden, mixture.expert_hidden));
  read_gated_layers(reader, model);
  read_single_dense_layers(reader, model.layers, mixture);
  set_experts(reader, model, mixture, kSparseStepKeys);
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
}

/// Kimi Linear's lists count layers from 1, and name those with a delta net and those without.
std::string read_kimi_mixers(ObjectReader& reader, ObjectReader& linear, std::int64_t layers) {
  constexpr const char* kLists[] = {"kda_layers", "full_attn_layers"};
  constexpr char kMixers[] = {half_layer::kDeltaNet, half_layer::kAttention};
  std::string mixers(static_cast<std::size_t>(layers), '?');
  for (std::size_t i = 0; i < std::size(kLists); ++i) {
    const auto numbers = linear.integers(kLists[i], between(1, static_cast<double>(layers)), true);
    if (!numbers) return mixers;
    for (const std::int64_t number : *numbers) {
      char& mixer = mixers[static_cast<std::size_t>(number - 1)];
      if (mixer != '?') {
        linear.report(kLists[i], "a layer is named once", fmt::format("layer {} is again", number),
                      "leave it out of one of the lists");
        return mixers;
      }
      mixer = kMixers[i];
    }
  }
  const std::size_t unnamed = mixers.find('?');
  if (unnamed != std::string::npos && !reader.diagnostics().has_errors()) {
    linear.report(kLists[0], "every layer is in one of the two lists",
                  fmt::format("layer {} of {} is in none", unnamed + 1, layers),
                  "layers are counted from 1");
  }
  return mixers;
}

/// Delta nets whose every channel forgets at its own rate, and layers of latent attention, without
/// positions; experts behind all but the first.
void read_kimi_linear(ObjectReader& reader, TransformerModel& model) {
  constexpr ExpertKeys kKeys{"num_experts_per_token", "first_k_dense_replace", "moe_layer_freq"};
  read_latent_layers(reader, model, "num_experts", "num_shared_experts", kKeys);
  model.position_encoding = PositionEncoding::none;
  const std::int64_t leading = model.mixture_of_experts->leading_dense_layers;
  if (model.mixture_of_experts->interval != 1) {
    reader.report("moe_layer_freq", "layers with experts at an interval are not read", "",
                  "behind the leading ones all have them");
  }
  model.mixture_of_experts->leading_dense_layers = 0;
  const std::optional<JsonCursor> part = reader.required_part("linear_attn_config");
  if (!part) return;
  ObjectReader linear(*part, reader.diagnostics());
  const std::int64_t heads = linear.integer("num_heads", model_limits::kHeads);
  const std::int64_t size = linear.integer("head_dim", model_limits::kHeadSize);
  model.delta_net = DeltaNet{
      .key_heads = heads,
      .value_heads = heads,
      .key_head_size = size,
      .value_head_size = size,
      .gate_rank = size,
      .convolution = given_count(linear, "short_conv_kernel_size", model_limits::kConvolution, 4)};
  const std::string mixers = read_kimi_mixers(reader, linear, model.layers);
  if (reader.diagnostics().has_errors()) return;
  model.layer_pattern = with_second_halves(mixers, half_layer::kExperts, leading);
  model.layers *= 2;
  check_mixers(model, reader, "linear_attn_config");
}

/// Two thirds of "block_ff_dim", times a factor, up to a multiple (Lfm2MLP), unless the
/// configuration says not to.
std::int64_t read_filtered_hidden(ObjectReader& reader) {
  constexpr std::string_view kOlder = "block_ff_dim";
  const std::string_view key = given(reader.cursor(), kOlder) ? kOlder : "intermediate_size";
  const std::int64_t inner = reader.integer(key, model_limits::kFfnHidden);
  const bool adjusts = given_flag(reader, "block_auto_adjust_ff_dim", true);
  const std::int64_t multiple =
      given_count(reader, "block_multiple_of", model_limits::kFfnHidden, 256);
  constexpr std::string_view kFactor = "block_ffn_dim_multiplier";
  const double factor = given(reader.cursor(), kFactor)
                            ? reader.number(kFactor, {.least = 0.01, .most = 100.0})
                            : 1.0;
  if (!adjusts) return inner;
  const std::int64_t gated = 2 * inner / 3;  // without its remainder, as the library has it
  const auto wanted = static_cast<std::int64_t>(factor * static_cast<double>(gated));
  return (wanted + multiple - 1) / multiple * multiple;
}

/// Short convolutions and a few layers of attention, a gated MLP behind each.
void read_filtered_layers(ObjectReader& reader, TransformerModel& model, std::int64_t ffn_hidden,
                          char half, std::int64_t leading) {
  read_llama_shape(reader, model, ffn_hidden);
  model.query_key_norms = QueryKeyNorms::each_head;
  model.tied_embeddings =
      given_flag(reader, "tie_word_embeddings", given_flag(reader, "tie_embedding", true));
  model.short_convolution = ShortConvolution{
      .positions = given_count(reader, "conv_L_cache", model_limits::kConvolution, 3),
      .bias = given_flag(reader, "conv_bias", false)};
  // Older words, which say the same again.
  const std::pair<const char*, std::int64_t> repeated[] = {{"block_dim", model.hidden},
                                                           {"conv_dim", model.hidden},
                                                           {"conv_dim_out", model.hidden},
                                                           {"num_heads", model.attention_heads}};
  for (const auto& [key, known] : repeated) {
    const std::int64_t count = given_count(reader, key, model_limits::kHidden, known);
    if (count == known) continue;
    reader.report(key, "filters are as wide as the hidden size, and heads are those of attention",
                  fmt::format("{} instead of {}", count, known), "leave it out");
  }
  constexpr std::string_view kAttending = "full_attn_idxs";
  const std::string mixers =
      given(reader.cursor(), kAttending) && !given(reader.cursor(), "layer_types")
          ? read_listed_attention(reader, model.layers, kAttending, half_layer::kConvolution)
          : read_mixers(reader, model.layers, half_layer::kConvolution, "conv");
  model.layer_pattern = with_second_halves(mixers, half, leading);
  model.layers *= 2;
}

void read_lfm2(ObjectReader& reader, TransformerModel& model) {
  read_filtered_layers(reader, model, read_filtered_hidden(reader), half_layer::kMlp, 0);
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
}

void read_lfm2_moe(ObjectReader& reader, TransformerModel& model) {
  constexpr std::string_view kLeading = "num_dense_layers";
  const std::int64_t leading = given_count(reader, kLeading, model_limits::kLeadingLayers, 2);
  if (leading >= model.layers) {
    reader.report(kLeading, "no layer would have experts",
                  fmt::format("{} of {} layers have none", leading, model.layers), "lower it");
  }
  read_filtered_layers(reader, model, reader.integer("intermediate_size", model_limits::kFfnHidden),
                       half_layer::kExperts, leading);
  set_experts(
      reader, model,
      {.experts = reader.integer("num_experts", model_limits::kExperts),
       .experts_per_token = reader.integer("num_experts_per_tok", model_limits::kExpertsPerToken),
       .expert_hidden = reader.integer("moe_intermediate_size", model_limits::kFfnHidden)});
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "layer_types");
}

constexpr FieldNames kHeadsOf256{.default_head_size = 256};
constexpr FieldNames kKimiLinearNames{.sequence_length = "model_max_length"};

constexpr std::array<Family, 9> kLinearFamilies = {{
    {"qwen3_next", "Qwen3NextForCausalLM", kHeadsOf256, read_qwen3_next, true},
    {"qwen3_5", "Qwen3_5ForConditionalGeneration", kHeadsOf256, read_qwen3_5},
    {"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration", kHeadsOf256, read_qwen3_next, true},
    {"minimax", "MiniMaxForCausalLM", {}, read_minimax, true},
    {"minimax_text_01", "MiniMaxText01ForCausalLM", {}, read_minimax, true},
    {"minimax_m1", "MiniMaxM1ForCausalLM", {}, read_minimax, true},
    {"kimi_linear", "KimiLinearForCausalLM", kKimiLinearNames, read_kimi_linear, true},
    {"lfm2", "Lfm2ForCausalLM", {}, read_lfm2},
    {"lfm2_moe", "Lfm2MoeForCausalLM", {}, read_lfm2_moe, true},
}};

}  // namespace

std::span<const Family> linear_families() { return kLinearFamilies; }

}  // namespace headway
