#pragma once

#include "sim/files/json_value.h"

namespace headway {

// What launch files have to know of a model, of a resolved scenario.

/// Megatron-LM's and torchtitan's own scripts train decoders only.
[[nodiscard]] bool is_decoder(const JsonValue& scenario);

/// Whether any of its layers attends; of others nobody is told which attention to take.
[[nodiscard]] bool has_attention(const JsonValue& scenario);

}  // namespace headway
