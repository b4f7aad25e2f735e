#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/base/text_table.h"
#include "sim/validate/memory_validation.h"

namespace headway {

/// How many published jobs that ran are said to fit, and how many that ran out of memory not to:
/// over all, or by the words of one property.
[[nodiscard]] TextTable memory_table(const MemoryValidation& validation, std::string_view property);

/// For a terminal: those tables, and the jobs that are judged wrong.
[[nodiscard]] std::string memory_text(const MemoryValidation& validation);

/// "headway/memory-validation/1", in SI base units.
[[nodiscard]] nlohmann::json memory_json(const MemoryValidation& validation);

}  // namespace headway
