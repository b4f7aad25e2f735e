#pragma once

#include <string>

#include "sim/files/json_value.h"

namespace headway {

/// The parts of a layer that Transformer Engine's CUDA graphs can hold, in the words of
/// Megatron-LM's --cuda-graph-scope: no experts that take any number of tokens, and nothing of
/// which something is computed again inside. Empty if nothing is left.
[[nodiscard]] std::string captured_parts(const JsonValue& scenario);

}  // namespace headway
