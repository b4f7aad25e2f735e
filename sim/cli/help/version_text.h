#pragma once

#include <string>

namespace headway {

/// "headway 0.1.0", and if `verbose` everything else that results depend on.
[[nodiscard]] std::string version_text(bool verbose);

}  // namespace headway
