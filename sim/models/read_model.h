#pragma once

#include <optional>

#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

struct ReadModel {
  Model model;
  std::optional<TransformerModel> transformer;  ///< its fields, if it is one of that family
  JsonCursor cursor;   ///< where it was read, for messages about combinations
  JsonValue resolved;  ///< every field, defaults written out
};

/// Reads a "headway/model/1" object: explicit fields, or `{"huggingface": "config.json"}` with the
/// path of a Hugging Face configuration (relative to the file that names it). `part` is an object,
/// the name of a file of the model library, or that of a Hugging Face configuration itself.
/// "schema" may be left out of an object that stands inside another file.
///
/// A published "parameters" count is held against the one that the fields give; more than 0.5 %
/// apart is an error, unless a `--set` changed the model on purpose.
///
/// Problems go into the diagnostics of `files`. Nothing if there is no model for want of a field or
/// for a wrong one; an unknown field or a published count that is not met leaves one to check
/// strategies against.
[[nodiscard]] std::optional<ReadModel> read_model(const JsonCursor& part, InputFiles& files);

}  // namespace headway
