#pragma once

#include <optional>

#include "sim/base/json_document.h"
#include "sim/model/transformer.h"

namespace headway {

/// Whether an object looks like a Hugging Face `config.json` rather than one of ours.
[[nodiscard]] bool is_huggingface_config(const JsonCursor& object);

/// Reads the `config.json` of a dense decoder of the transformers library: llama, mistral, qwen2,
/// nemotron, gpt2, gpt_neox, mpt. Fields that say nothing about shapes are ignored (there are
/// dozens, and new ones come with every release); a missing shape, another family or a mixture of
/// experts is a problem. Nothing if there was one.
[[nodiscard]] std::optional<TransformerModel> read_huggingface(const JsonCursor& config,
                                                               Diagnostics& diagnostics);

}  // namespace headway
