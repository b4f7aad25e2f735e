// Families whose layers are selective scans, alone or with attention and experts.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

/// "auto", which is also what a missing rank is, stands for a sixteenth of the hidden size.
std::int64_t read_step_rank(ObjectReader& reader, std::string_view key, std::int64_t hidden) {
  constexpr std::int64_t kShare = 16;
  const std::optional<JsonCursor> rank = given(reader.cursor(), key);
  if (rank && rank->value() != "auto") return reader.integer(key, model_limits::kHidden);
  return (hidden + kShare - 1) / kShare;
}

std::int64_t expanded(ObjectReader& reader, std::string_view key, std::int64_t hidden) {
  return hidden * given_count(reader, key, between(1, 1000), 2);
}

/// Nothing but scans. Heads of attention and an MLP, of which there are none, are the least. Falcon
/// Mamba is published with channels that its factor does not give: what the channels are counts.
void read_scans(ObjectReader& reader, TransformerModel& model, SelectionNorms norms) {
  constexpr std::string_view kChannels = "intermediate_size";
  const std::int64_t factored = expanded(reader, "expand", model.hidden);
  const std::int64_t channels = given_count(reader, kChannels, model_limits::kFfnHidden, factored);
  read_llama_shape(reader, model, channels);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  model.position_encoding = PositionEncoding::none;
  model.layer_pattern =
      std::string(static_cast<std::size_t>(model.layers), half_layer::kSelectiveScan);
  model.selective_scan = SelectiveScan{
      .channels = channels,
      .state_size = given_count(reader, "state_size", model_limits::kStateSize, 16),
      .step_rank = read_step_rank(reader, "time_step_rank", model.hidden),
      .convolution = given_count(reader, "conv_kernel", model_limits::kConvolution, 4),
      .convolution_bias = given_flag(reader, "use_conv_bias", true),
      .bias = given_flag(reader, "use_bias", false),
      .norms = norms};
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "num_hidden_layers");
}

void read_mamba(ObjectReader& reader, TransformerModel& model) {
  read_scans(reader, model, SelectionNorms::none);
}

void read_falcon_mamba(ObjectReader& reader, TransformerModel& model) {
  read_scans(reader, model, SelectionNorms::plain);
}

/// `special` in one of every period of layers, `usual` in the others.
std::string read_periodic(ObjectReader& reader, std::int64_t layers, const std::string& of,
                          std::int64_t default_period, std::int64_t default_offset, char special,
                          char usual) {
  const std::string period_key = of + "_layer_period";
  const std::string offset_key = of + "_layer_offset";
  const std::int64_t period =
      given_count(reader, period_key, model_limits::kLayers, default_period);
  const std::int64_t offset =
      given_count(reader, offset_key, model_limits::kLeadingLayers, default_offset);
  if (offset >= period && !reader.diagnostics().has_errors()) {
    const bool is_given = given(reader.cursor(), offset_key).has_value();
    reader.report(is_given ? offset_key : period_key, "an offset is less than its period",
                  fmt::format("{} of {}", offset, period),
                  fmt::format("give {} a number from 0 to {}", offset_key, period - 1));
  }
  std::string letters;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    letters += layer % period == offset ? special : usual;
  }
  return letters;
}

/// A list of the mixers may say the same again.
void check_listed_mixers(ObjectReader& reader, const std::string& mixers) {
  constexpr std::string_view kListed = "layers_block_type";
  const std::optional<JsonCursor> types = given(reader.cursor(), kListed);
  if (!types || reader.diagnostics().has_errors()) return;
  nlohmann::json expected = nlohmann::json::array();
  for (const char mixer : mixers) {
    expected.push_back(mixer == half_layer::kAttention ? "attention" : "mamba");
  }
  if (types->value() == expected) return;
  reader.report(kListed, "attn_layer_period and attn_layer_offset say which layers have attention",
                "the list says otherwise", "leave it out, or mend them");
}

/// Scans and attention without positions, each with an MLP or experts behind.
void read_jamba(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model);
  model.position_encoding = PositionEncoding::none;
  const std::string mixers = read_periodic(reader, model.layers, "attn", 8, 4,
                                           half_layer::kAttention, half_layer::kSelectiveScan);
  check_listed_mixers(reader, mixers);
  const std::int64_t experts = given_count(reader, "num_experts", between(1, 100'000), 16);
  const std::string halves =
      read_periodic(reader, model.layers, "expert", 2, 1,
                    experts > 1 ? half_layer::kExperts : half_layer::kMlp, half_layer::kMlp);
  for (std::size_t layer = 0; layer < mixers.size(); ++layer) {
    model.layer_pattern += {mixers[layer], halves[layer]};
  }
  model.layers *= 2;
  const SelectiveScan scan{
      .channels = expanded(reader, "mamba_expand", model.hidden),
      .state_size = given_count(reader, "mamba_d_state", model_limits::kStateSize, 16),
      .step_rank = read_step_rank(reader, "mamba_dt_rank", model.hidden),
      .convolution = given_count(reader, "mamba_d_conv", model_limits::kConvolution, 4),
      .convolution_bias = given_flag(reader, "mamba_conv_bias", true),
      .bias = given_flag(reader, "mamba_proj_bias", false),
      .norms = given_flag(reader, "mamba_inner_layernorms", true) ? SelectionNorms::scaled
                                                                  : SelectionNorms::none};
  if (mixers.find(half_layer::kSelectiveScan) != std::string::npos) model.selective_scan = scan;
  const std::int64_t per_token =
      given_count(reader, "num_experts_per_tok", model_limits::kExpertsPerToken, 2);
  if (halves.find(half_layer::kExperts) != std::string::npos) {
    set_experts(
        reader, model,
        {.experts = experts, .experts_per_token = per_token, .expert_hidden = model.ffn_hidden});
  }
  if (!reader.diagnostics().has_errors()) check_mixers(model, reader, "attn_layer_period");
}

/// Sequences are those that these were trained at (Gu and Dao 2023, section 4.2; Zuo et al. 2024,
/// arXiv:2410.05355), of which configurations say nothing.
constexpr FieldNames kMambaNames{.default_attention_heads = 1, .default_sequence_length = 2048};
constexpr FieldNames kFalconMambaNames{.default_attention_heads = 1,
                                       .default_sequence_length = 8192};
constexpr FieldNames kJambaNames{.default_kv_heads = 8, .default_sequence_length = 262'144};

constexpr std::array<Family, 3> kScanFamilies = {{
    {"mamba", "MambaForCausalLM", kMambaNames, read_mamba},
    {"falcon_mamba", "FalconMambaForCausalLM", kFalconMambaNames, read_falcon_mamba},
    {"jamba", "JambaForCausalLM", kJambaNames, read_jamba, true},
}};

}  // namespace

std::span<const Family> scan_families() { return kScanFamilies; }

}  // namespace headway
