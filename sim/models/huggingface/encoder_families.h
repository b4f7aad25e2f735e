#pragma once

#include <span>
#include <string_view>

#include "sim/files/json_reader.h"
#include "sim/models/huggingface/huggingface.h"

namespace headway {

// Families of the transformers and diffusers libraries that are no decoders; for
// huggingface_encoders.cpp.

/// `type` is the "model_type" of a configuration, of diffusers' the "_class_name".
struct EncoderFamily {
  std::string_view type;
  std::string_view architecture;  ///< of very old configurations without a type
  EncoderModel (*read)(ObjectReader& reader);
};

/// Those of diffusers.
[[nodiscard]] std::span<const EncoderFamily> diffusion_families();

/// A model of that family of ours, and its fields written out, as `read_model` reads them back.
[[nodiscard]] EncoderModel encoder_of(std::string_view family, Model model, JsonValue fields);

}  // namespace headway
