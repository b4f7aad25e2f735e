#pragma once

#include <string>

namespace headway {

/// The version of the SimGrid library that this program runs with: "3.32.0".
[[nodiscard]] std::string engine_version();

}  // namespace headway
