#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/models/huggingface/huggingface.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr std::string_view kArchitecture = "T5ForConditionalGeneration";

}  // namespace

std::span<const std::string_view> encoder_decoder_types() {
  static constexpr std::string_view kTypes[] = {"t5", "mt5"};
  return kTypes;
}

bool is_encoder_decoder(const JsonCursor& config) {
  const std::optional<JsonCursor> type = given(config, "model_type");
  if (type) {
    return std::ranges::any_of(encoder_decoder_types(),
                               [&](std::string_view of) { return type->value() == of; });
  }
  const std::optional<JsonCursor> architectures = given(config, "architectures");
  return architectures && architectures->value().is_array() && !architectures->value().empty() &&
         architectures->value().front() == kArchitecture;
}

std::optional<T5Model> read_huggingface_t5(const JsonCursor& config, Diagnostics& diagnostics) {
  Diagnostics own;
  ObjectReader reader(config, own);
  T5Model model;
  model.name = configuration_name(config, encoder_decoder_types().front());
  model.source = fmt::format("Hugging Face configuration {}", config.document().name());
  model.layers = reader.integer("num_layers", model_limits::kLayers);
  model.decoder_layers =
      given_count(reader, "num_decoder_layers", model_limits::kLayers, model.layers);
  model.hidden = reader.integer("d_model", model_limits::kHidden);
  model.attention_heads = reader.integer("num_heads", model_limits::kHeads);
  model.head_size = reader.integer("d_kv", model_limits::kHeadSize);
  model.ffn_hidden = reader.integer("d_ff", model_limits::kFfnHidden);
  const std::optional<JsonCursor> activation = given(config, "feed_forward_proj");
  if (activation) model.gated_mlp = reader.text("feed_forward_proj").starts_with("gated");
  model.position_buckets =
      given_count(reader, "relative_attention_num_buckets", between(1, 100'000), 32);
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  model.sequence_length =
      given_count(reader, "n_positions", model_limits::kSequenceLength, model.sequence_length);
  model.target_length = model.sequence_length;
  const bool is_read = !own.has_errors();
  if (is_read) warn_of_unread_fields(reader);
  diagnostics.append(own);
  if (!is_read) return std::nullopt;
  return model;
}

}  // namespace headway
