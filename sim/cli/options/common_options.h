#pragma once

#include <string>
#include <vector>

#include "sim/cli/options/arguments.h"
#include "sim/cli/options/option.h"
#include "sim/cli/terminal.h"

namespace headway {

// Options that several commands have, described once.

/// `example` is an assignment that the command's files have: "/strategy/tensor_parallel=4".
[[nodiscard]] Option set_option(const std::string& example);
[[nodiscard]] Option profile_option();
[[nodiscard]] Option replicas_option();
[[nodiscard]] Option seed_option();
[[nodiscard]] Option jobs_option();
[[nodiscard]] Option json_option();
[[nodiscard]] Option output_option();
[[nodiscard]] Option progress_option();

/// `own`, and after them what every command has: --color, -q, -v, -h, --help.
[[nodiscard]] std::vector<Option> with_standard_options(std::vector<Option> own);

/// Simulations at a time: --jobs, else $HEADWAY_JOBS, else the cores that this process may use.
[[nodiscard]] int jobs_of(const Arguments& arguments);

/// What --progress says.
[[nodiscard]] When progress_of(const Arguments& arguments);

}  // namespace headway
