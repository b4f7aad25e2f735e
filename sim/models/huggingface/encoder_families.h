#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/files/json_reader.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {

// Families of the transformers and diffusers libraries that are no decoders; for
// huggingface_encoders.cpp.

/// `type` is the "model_type" of a configuration, of diffusers' the "_class_name".
struct EncoderFamily {
  std::string_view type;
  std::string_view architecture;  ///< of very old configurations without a type
  EncoderModel (*read)(ObjectReader& reader);
  /// Instead of `read`, of one that hears clips.
  EncoderModel (*read_clips)(ObjectReader& reader, const HeardClips& clips) = nullptr;
};

/// Encoders of words, and what sees images.
[[nodiscard]] std::span<const EncoderFamily> word_families();
[[nodiscard]] std::span<const EncoderFamily> image_families();
/// Encoders of waveforms.
[[nodiscard]] std::span<const EncoderFamily> speech_families();

/// Those of diffusers.
[[nodiscard]] std::span<const EncoderFamily> diffusion_families();

/// Whether "architectures" names it.
[[nodiscard]] bool is_of_architecture(ObjectReader& reader, std::string_view name);

/// Warns at the field, or at the whole where it is left out.
void warn_at(ObjectReader& reader, std::string_view key, std::string what, std::string help);

/// A model of that family of ours, and its fields written out, as `read_model` reads them back.
[[nodiscard]] EncoderModel encoder_of(std::string_view family, Model model, JsonValue fields);

/// What BERT and vision transformers call the same.
template <class Fields>
Fields read_sizes(ObjectReader& reader) {
  Fields model;
  model.layers = reader.integer("num_hidden_layers", model_limits::kLayers);
  model.hidden = reader.integer("hidden_size", model_limits::kHidden);
  model.attention_heads = reader.integer("num_attention_heads", model_limits::kHeads);
  model.ffn_hidden = reader.integer("intermediate_size", model_limits::kFfnHidden);
  check_heads(model.hidden, model.attention_heads, reader);
  return model;
}

}  // namespace headway
