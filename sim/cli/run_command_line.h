#pragma once

#include <string>
#include <vector>

namespace headway {

/// Everything that `headway` does, given the words behind its name. Returns the exit code.
[[nodiscard]] int run_command_line(const std::vector<std::string>& words);

}  // namespace headway
