#pragma once

#include <optional>

#include "sim/files/json_document.h"
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

}  // namespace headway
