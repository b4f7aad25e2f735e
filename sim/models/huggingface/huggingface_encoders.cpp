#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "sim/models/huggingface/encoder_families.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/t5.h"
#include "sim/models/transformer/whisper.h"

namespace headway {
namespace {

/// The decoder writes as many words as the encoder takes.
EncoderModel read_t5(ObjectReader& reader) {
  T5Model model;
  model.layers = reader.integer("num_layers", model_limits::kLayers);
  model.decoder_layers =
      given_count(reader, "num_decoder_layers", model_limits::kLayers, model.layers);
  model.hidden = reader.integer("d_model", model_limits::kHidden);
  model.attention_heads = reader.integer("num_heads", model_limits::kHeads);
  model.head_size = reader.integer("d_kv", model_limits::kHeadSize);
  model.ffn_hidden = reader.integer("d_ff", model_limits::kFfnHidden);
  if (given(reader.cursor(), "feed_forward_proj")) {
    model.gated_mlp = reader.text("feed_forward_proj").starts_with("gated");
  }
  model.position_buckets =
      given_count(reader, "relative_attention_num_buckets", between(1, 100'000), 32);
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  model.sequence_length =
      given_count(reader, "n_positions", model_limits::kSequenceLength, model.sequence_length);
  model.target_length = model.sequence_length;
  return encoder_of("t5", layers_of(model), t5_fields().written(model));
}

/// Halves of one width and as many heads each, as Whisper and BART call them. The library lets
/// heads and MLPs differ, which no published model does.
template <class Fields>
void read_halves(ObjectReader& reader, Fields& model) {
  model.layers = reader.integer("encoder_layers", model_limits::kLayers);
  // Says the same again.
  static_cast<void>(given_count(reader, "num_hidden_layers", model_limits::kLayers, 1));
  model.decoder_layers = reader.integer("decoder_layers", model_limits::kLayers);
  model.hidden = reader.integer("d_model", model_limits::kHidden);
  model.attention_heads = reader.integer("encoder_attention_heads", model_limits::kHeads);
  model.ffn_hidden = reader.integer("encoder_ffn_dim", model_limits::kFfnHidden);
  const auto is_alike = [&](std::string_view key, Range range, std::int64_t encoder) {
    const std::int64_t decoder = given_count(reader, key, range, encoder);
    if (decoder == encoder) return;
    reader.report(key, "the decoder differs from the encoder",
                  fmt::format("{}, where the encoder has {}", decoder, encoder),
                  "read are models whose halves are alike but for their layers");
  };
  is_alike("decoder_attention_heads", model_limits::kHeads, model.attention_heads);
  is_alike("decoder_ffn_dim", model_limits::kFfnHidden, model.ffn_hidden);
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
}

/// The decoder is trained to write as many words as it has positions for.
EncoderModel read_whisper_config(ObjectReader& reader) {
  WhisperModel model;
  read_halves(reader, model);
  model.mel_bins = given_count(reader, "num_mel_bins", between(1, 100'000), model.mel_bins);
  model.frames =
      2 * given_count(reader, "max_source_positions", between(1, 50'000'000), model.positions());
  model.target_positions = given_count(reader, "max_target_positions",
                                       model_limits::kSequenceLength, model.target_positions);
  model.target_length = model.target_positions;
  check_heads(model.hidden, model.attention_heads, reader);
  return encoder_of("whisper", layers_of(model), whisper_fields().written(model));
}

/// `spare_rows`: of each half's table of positions, which no position has; none where positions are
/// sinusoids.
EncoderModel read_bart_shape(ObjectReader& reader, std::string_view activation,
                             std::optional<std::int64_t> spare_rows) {
  T5Model model;
  read_halves(reader, model);
  check_heads(model.hidden, model.attention_heads, reader);
  model.head_size = std::max(model.hidden / model.attention_heads, std::int64_t{1});
  model.activation = activation_of(reader, "activation_function", activation);
  model.biases = true;
  model.position_buckets = 0;
  constexpr std::int64_t kPositions = 1024;
  model.sequence_length =
      given_count(reader, "max_position_embeddings", model_limits::kSequenceLength, kPositions);
  model.target_length = model.sequence_length;
  if (spare_rows) model.positions = model.sequence_length + *spare_rows;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  const bool of_attention = drops_out(reader, {"attention_dropout", "activation_dropout"}, 0.0);
  model.dropout = drops_out(reader, {"dropout"}, 0.1) || of_attention;
  return encoder_of("t5", layers_of(model), t5_fields().written(model));
}

/// BART, and mBART, which has two norms more than are counted: a thousandth of a percent.
EncoderModel read_bart(ObjectReader& reader) {
  constexpr std::int64_t kSpareRows = 2;
  return read_bart_shape(reader, "gelu", kSpareRows);
}

EncoderModel read_pegasus(ObjectReader& reader) {
  return read_bart_shape(reader, "gelu", std::nullopt);
}

/// NLLB too.
EncoderModel read_m2m_100(ObjectReader& reader) {
  return read_bart_shape(reader, "relu", std::nullopt);
}

constexpr std::array kWritingFamilies = {
    EncoderFamily{"t5", "T5ForConditionalGeneration", read_t5},
    EncoderFamily{"mt5", "MT5ForConditionalGeneration", read_t5},
    EncoderFamily{"bart", "BartForConditionalGeneration", read_bart},
    EncoderFamily{"mbart", "MBartForConditionalGeneration", read_bart},
    EncoderFamily{"pegasus", "PegasusForConditionalGeneration", read_pegasus},
    EncoderFamily{"m2m_100", "M2M100ForConditionalGeneration", read_m2m_100},
    EncoderFamily{"whisper", "WhisperForConditionalGeneration", read_whisper_config},
};

/// Those with a decoder, then those of speech and of words alone, and what sees.
std::vector<EncoderFamily> encoder_families() {
  std::vector<EncoderFamily> all(kWritingFamilies.begin(), kWritingFamilies.end());
  for (const auto of_kind : {speech_families(), word_families(), image_families()}) {
    all.insert(all.end(), of_kind.begin(), of_kind.end());
  }
  return all;
}

/// By "model_type", or diffusers' "_class_name"; very old configurations have only "architectures".
std::optional<EncoderFamily> family_of(const JsonCursor& config) {
  const auto of_type = [](std::span<const EncoderFamily> among,
                          const JsonCursor& type) -> std::optional<EncoderFamily> {
    const auto found = std::ranges::find_if(
        among, [&](const EncoderFamily& family) { return type.value() == family.type; });
    if (found == among.end()) return std::nullopt;
    return *found;
  };
  const std::vector<EncoderFamily> all = encoder_families();
  if (const auto type = given(config, "model_type")) return of_type(all, *type);
  if (const auto type = given(config, kClassName)) return of_type(diffusion_families(), *type);
  const std::optional<JsonCursor> names = given(config, "architectures");
  if (!names || !names->is_array() || names->value().empty()) return std::nullopt;
  const auto found =
      std::ranges::find_if(all, [name = names->value().front()](const EncoderFamily& family) {
        return name == family.architecture;
      });
  if (found == all.end()) return std::nullopt;
  return *found;
}

std::vector<std::string_view> types_of(std::span<const EncoderFamily> families) {
  std::vector<std::string_view> types;
  for (const EncoderFamily& family : families) types.push_back(family.type);
  return types;
}

}  // namespace

std::vector<std::string_view> encoder_types() { return types_of(encoder_families()); }
std::vector<std::string_view> diffusion_types() { return types_of(diffusion_families()); }

bool is_of_architecture(ObjectReader& reader, std::string_view name) {
  const std::optional<JsonCursor> names = given(reader.cursor(), "architectures");
  if (!names || !names->is_array()) return false;
  return std::ranges::any_of(names->value(), [&](const auto& each) { return each == name; });
}

void warn_at(ObjectReader& reader, std::string_view key, std::string what, std::string help) {
  const std::optional<JsonCursor> field = reader.cursor().member(key);
  Diagnostic warning = field ? field->key_problem(std::move(what), std::move(help))
                             : reader.cursor().problem(std::move(what), "", std::move(help));
  warning.severity = Severity::warning;
  reader.diagnostics().add(std::move(warning));
}

EncoderModel encoder_of(std::string_view family, Model model, JsonValue fields) {
  (*fields)["schema"] = "headway/model/1";
  (*fields)["family"] = family;
  return {std::move(model), std::move(fields)};
}

bool is_encoder(const JsonCursor& config) { return family_of(config).has_value(); }

bool hears_clips(const JsonCursor& config) {
  const std::optional<EncoderFamily> family = family_of(config);
  return family && family->read_clips != nullptr;
}

std::optional<EncoderModel> read_huggingface_encoder(const JsonCursor& config,
                                                     Diagnostics& diagnostics,
                                                     const HeardClips& clips) {
  const std::optional<EncoderFamily> family = family_of(config);
  HEADWAY_CHECK(family.has_value(), "a configuration of an encoder");
  Diagnostics own;
  ObjectReader reader(config, own);
  EncoderModel read = family->read_clips ? family->read_clips(reader, clips) : family->read(reader);
  const bool is_read = !own.has_errors();
  if (is_read) warn_of_unread_fields(reader);
  diagnostics.append(own);
  if (!is_read) return std::nullopt;
  rename(read, configuration_name(config, family->type),
         fmt::format("Hugging Face configuration {}", config.document().name()));
  return read;
}

void rename(EncoderModel& model, const std::string& name, const std::string& source) {
  if (!name.empty()) (*model.resolved)["name"] = model.model.name = name;
  if (!source.empty()) (*model.resolved)["source"] = model.model.source = source;
}

}  // namespace headway
