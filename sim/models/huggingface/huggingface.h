#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/json_document.h"
#include "sim/files/json_value.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// Whether an object looks like a Hugging Face `config.json` rather than one of ours.
[[nodiscard]] bool is_huggingface_config(const JsonCursor& object);

/// "model_type" of the decoders that are read: dense ones, those with experts, those whose layers
/// are not all attention and an MLP.
[[nodiscard]] std::vector<std::string_view> decoder_types();

/// What a configuration does not say of the images that a model is trained on.
struct SeenImages {
  std::optional<double> share = {};          ///< of a sequence's positions
  std::optional<std::int64_t> patches = {};  ///< of an image
};

/// Reads the `config.json` of such a decoder of the transformers library, or of a model that sees
/// or hears beside one: towers that see are read where their family is known, others and what hears
/// are warned of. Fields that say nothing about shapes are ignored (there are dozens, and new ones
/// come with every release); a missing shape or another family is a problem. Nothing if there was
/// one.
[[nodiscard]] std::optional<TransformerModel> read_huggingface(const JsonCursor& config,
                                                               Diagnostics& diagnostics,
                                                               const SeenImages& images = {});

/// An encoder, with a decoder or without, or a diffusion transformer.
struct EncoderModel {
  Model model;
  JsonValue resolved;  ///< every field written out, as `read_model` reads it back
};

/// What diffusers' configurations say instead of a "model_type".
inline constexpr std::string_view kClassName = "_class_name";

/// Those that are read: "model_type" of their configurations, and "_class_name" of diffusers'.
[[nodiscard]] std::vector<std::string_view> encoder_types();
[[nodiscard]] std::vector<std::string_view> diffusion_types();
[[nodiscard]] bool is_encoder(const JsonCursor& config);

/// What a configuration does not say of the clips that a model hears.
struct HeardClips {
  std::optional<std::int64_t> samples = {};  ///< of the waveform of one
};
/// Whether it hears waveforms, of clips of any length.
[[nodiscard]] bool hears_clips(const JsonCursor& config);

/// The `config.json` of such a model. Nothing if there was a problem.
[[nodiscard]] std::optional<EncoderModel> read_huggingface_encoder(const JsonCursor& config,
                                                                   Diagnostics& diagnostics,
                                                                   const HeardClips& clips = {});

/// Calls it what somebody says, and does not where that is empty.
void rename(EncoderModel& model, const std::string& name, const std::string& source);

}  // namespace headway
