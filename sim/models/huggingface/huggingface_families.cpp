#include "sim/models/huggingface/huggingface_families.h"

#include <nlohmann/json.hpp>

#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr std::string_view kFullAttention = "full_attention";

/// The interval at which "layer_types" names full attention, if it does so at an even one.
std::optional<std::int64_t> interval_of(const nlohmann::json& types) {
  std::int64_t interval = 0;
  for (std::size_t i = 0; i < types.size() && interval == 0; ++i) {
    if (types[i] == kFullAttention) interval = static_cast<std::int64_t>(i) + 1;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool is_last = interval > 0 && (static_cast<std::int64_t>(i) + 1) % interval == 0;
    if (is_last != (types[i] == kFullAttention)) return std::nullopt;
  }
  return interval;
}

bool is_list(const std::optional<JsonCursor>& value) { return value && value->is_array(); }

}  // namespace

std::optional<std::int64_t> interval_of_full_attention(ObjectReader& reader) {
  const std::optional<JsonCursor> types = given(reader.cursor(), "layer_types");
  if (!is_list(types)) return std::nullopt;
  const std::optional<std::int64_t> interval = interval_of(types->value());
  if (!interval) {
    reader.report("layer_types", "full attention does not come at an even interval", "",
                  "read are models of which the last of every n layers attends to all");
  }
  return interval;
}

std::optional<JsonCursor> given(const JsonCursor& object, std::string_view key) {
  std::optional<JsonCursor> value = object.member(key);
  if (value && value->value().is_null()) return std::nullopt;
  return value;
}

std::int64_t given_count(ObjectReader& reader, std::string_view key, Range range,
                         std::int64_t fallback) {
  return given(reader.cursor(), key) ? reader.integer(key, range) : fallback;
}

bool given_flag(ObjectReader& reader, std::string_view key, bool fallback) {
  return given(reader.cursor(), key) ? reader.flag(key, fallback) : fallback;
}

bool drops_out(ObjectReader& reader, std::initializer_list<std::string_view> keys,
               double fallback) {
  constexpr Range kProbability{.least = 0.0, .most = 1.0};
  bool drops = false;
  for (const std::string_view key : keys) {  // all are read, and their errors told
    const double share =
        given(reader.cursor(), key) ? reader.number(key, kProbability, fallback) : fallback;
    drops = drops || share > 0.0;
  }
  return drops;
}

ActivationFunction activation_of(ObjectReader& reader, std::string_view key,
                                 std::string_view fallback) {
  const std::string function =
      given(reader.cursor(), key) ? reader.text(key) : std::string(fallback);
  if (function == "relu") return ActivationFunction::relu;
  if (function == "gelu_new") return ActivationFunction::gelu_new;
  return ActivationFunction::gelu;
}

void read_activation(ObjectReader& reader, std::string_view key, std::string_view fallback,
                     TransformerModel& model) {
  model.activation = activation_of(reader, key, fallback);
}

void read_query_key_norms(ObjectReader& reader, TransformerModel& model, std::string_view key,
                          bool fallback, QueryKeyNorms kind) {
  model.query_key_norms = given_flag(reader, key, fallback) ? kind : QueryKeyNorms::none;
}

void read_llama_shape(ObjectReader& reader, TransformerModel& model) {
  read_llama_shape(reader, model, reader.integer("intermediate_size", model_limits::kFfnHidden));
}

void read_llama_shape(ObjectReader& reader, TransformerModel& model, std::int64_t ffn_hidden) {
  model.ffn_hidden = ffn_hidden;
  model.gated_mlp = true;
  model.normalization = Normalization::rms_norm;
  model.normalization_bias = false;
  model.position_encoding = PositionEncoding::rotary;
  model.qkv_bias = model.projection_bias = model.mlp_bias = false;
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", false);
}

void read_sliding_window(ObjectReader& reader, TransformerModel& model,
                         std::int64_t full_attention_interval) {
  if (!given(reader.cursor(), "sliding_window")) return;
  SlidingWindow window{.size = reader.integer("sliding_window", model_limits::kSequenceLength),
                       .full_attention_interval = full_attention_interval};
  if (is_list(given(reader.cursor(), "layer_types"))) {
    const std::optional<std::int64_t> interval = interval_of_full_attention(reader);
    if (!interval || interval == 1) return;
    window.full_attention_interval = *interval;
  }
  if (window.size < model.sequence_length) model.sliding_window = window;
}

}  // namespace headway
