#pragma once

#include <string>

namespace headway {

/// A word as a shell has to be given it: in single quotes unless it is plain.
[[nodiscard]] std::string shell_quoted(const std::string& word);

}  // namespace headway
