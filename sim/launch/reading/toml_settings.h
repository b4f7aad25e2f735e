#pragma once

#include <string>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// The values of a TOML text as settings "table.key", a list as several words. `file` and
/// `lines_before` say where the text stands. What is no TOML is an error with its place.
[[nodiscard]] GivenSettings settings_of_toml(const std::string& file, const std::string& text,
                                             int lines_before, Diagnostics& diagnostics);

/// Whether it is one, with a table in it.
[[nodiscard]] bool is_toml(const std::string& text);

}  // namespace headway
