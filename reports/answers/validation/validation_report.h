#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/validate/validation.h"

namespace headway {

/// For a terminal: rows (the worst of many), then errors by each property; tables within `columns`.
[[nodiscard]] std::string validation_text(const Validation& validation, std::size_t columns);

/// "source", "choices", both, or null.
[[nodiscard]] nlohmann::json left_out_json(bool source, bool choices);

/// "headway/validation/1", in SI base units; errors are fractions.
[[nodiscard]] nlohmann::json validation_json(const Validation& validation);

}  // namespace headway
