#pragma once

#include <string>

#include "sim/files/json_value.h"

namespace headway {

/// Which kernel fused attention runs, as the table of flags tells them apart: "flash by cuDNN",
/// "flash" by FlashAttention, and "flash-2 of latent attention", whose heads of two sizes
/// FlashAttention 2 does not take.
[[nodiscard]] std::string attention_kernel_word(const JsonValue& scenario);

}  // namespace headway
