#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sim/files/json_document.h"
#include "sim/models/transformer/t5.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// Whether an object looks like a Hugging Face `config.json` rather than one of ours.
[[nodiscard]] bool is_huggingface_config(const JsonCursor& object);

/// Reads the `config.json` of a decoder of the transformers library (huggingface_dense.cpp and
/// huggingface_experts.cpp list them). Fields that say nothing about shapes are ignored (there are
/// dozens, and new ones come with every release); a missing shape or another family is a problem.
/// Nothing if there was one.
[[nodiscard]] std::optional<TransformerModel> read_huggingface(const JsonCursor& config,
                                                               Diagnostics& diagnostics);

/// Encoder-decoders that are read: "model_type" of their configurations.
[[nodiscard]] std::span<const std::string_view> encoder_decoder_types();
[[nodiscard]] bool is_encoder_decoder(const JsonCursor& config);

/// Likewise; the decoder writes as many words as the encoder takes.
[[nodiscard]] std::optional<T5Model> read_huggingface_t5(const JsonCursor& config,
                                                         Diagnostics& diagnostics);

}  // namespace headway
