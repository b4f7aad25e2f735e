#pragma once

#include <string>

namespace headway {

/// The root of the source tree, from which tests read what ships. A function, so that only its own
/// source depends on where that is.
[[nodiscard]] const std::string& source_folder();

}  // namespace headway
