#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/predict/collective/collective_validation.h"

namespace headway {

/// For a terminal: median errors over all sweeps and of each, by size of message; how many sweeps
/// are not predicted, by reason.
[[nodiscard]] std::string collective_validation_text(const CollectiveValidation& validation);

/// "headway/collective-validation/1", every point and every sweep that is not predicted.
[[nodiscard]] nlohmann::json collective_validation_json(const CollectiveValidation& validation);

}  // namespace headway
