#pragma once

#include <string>

#include "sim/cli/command.h"

namespace headway {

/// What `headway` prints by itself: what it is, an example, the commands.
[[nodiscard]] std::string overview();

/// `headway COMMAND -h`: one screen.
[[nodiscard]] std::string short_help(const Command& command);

/// `headway COMMAND --help`: the same and all the rest.
[[nodiscard]] std::string full_help(const Command& command);

}  // namespace headway
