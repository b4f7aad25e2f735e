#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway {

/// What stands under `key` in a file of scenarios/validation. Throws InputError if it cannot be
/// read.
[[nodiscard]] nlohmann::json validation_data(const std::string& file, const std::string& key);

}  // namespace headway
