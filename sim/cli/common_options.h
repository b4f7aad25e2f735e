#pragma once

#include <vector>

#include "sim/cli/option.h"

namespace headway {

// Options that several commands have, described once.

[[nodiscard]] Option set_option();
[[nodiscard]] Option profile_option();
[[nodiscard]] Option jobs_option();
[[nodiscard]] Option json_option();
[[nodiscard]] Option output_option();
[[nodiscard]] Option progress_option();

/// `own`, and after them what every command has: --color, -q, -v, -h, --help.
[[nodiscard]] std::vector<Option> with_standard_options(std::vector<Option> own);

}  // namespace headway
