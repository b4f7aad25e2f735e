#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/scenario/scenario.h"

namespace headway {

/// What a result was made with: versions, files with fingerprints, the command line. The same run
/// on another day or machine has the same provenance, so that the same input gives the same bytes.
[[nodiscard]] nlohmann::json provenance(const Scenario& scenario, const std::string& command_line);

/// "0.1.0"
[[nodiscard]] std::string headway_version();

}  // namespace headway
