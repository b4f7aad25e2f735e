#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/validate/validation.h"

namespace headway {

/// For a terminal, within 100 columns: rows (the worst of many), then errors by each property.
[[nodiscard]] std::string validation_text(const Validation& validation);

/// "headway/validation/1", in SI base units; errors are fractions.
[[nodiscard]] nlohmann::json validation_json(const Validation& validation);

}  // namespace headway
