#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/base/input_files.h"
#include "sim/model/transformer.h"

namespace headway {

struct ReadModel {
  TransformerModel model;
  JsonCursor cursor;        ///< where it was read, for messages about combinations
  nlohmann::json resolved;  ///< every field, defaults written out
};

/// Reads a "headway/model/1" object: explicit fields, or `{"huggingface": "config.json"}` with the
/// path of a Hugging Face configuration (relative to the file that names it). `part` is an object
/// or the name of a file of the model library. Nothing if it cannot be read at all; problems go
/// into the diagnostics of `files`.
[[nodiscard]] std::optional<ReadModel> read_model(const JsonCursor& part, InputFiles& files);

}  // namespace headway
