#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/study/validation.h"

namespace headway {

/// A table of rows, then one of errors by group.
[[nodiscard]] std::string validation_text(const Validation& validation);
[[nodiscard]] std::string validation_markdown(const Validation& validation);

/// "headway/validation/1", in SI base units; errors are fractions.
[[nodiscard]] nlohmann::json validation_json(const Validation& validation);

}  // namespace headway
