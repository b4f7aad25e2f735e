#pragma once

#include <string>
#include <vector>

#include "sim/cli/command.h"
#include "sim/cli/options/arguments.h"

namespace headway {

/// Reads what stands behind the command's name. Options may stand anywhere and are never guessed
/// from a beginning (an abbreviation that works becomes an interface by accident); after "--"
/// everything is a file or name. Throws InputError for an unknown option, a missing, superfluous or
/// unknown value, an option given twice, too few or too many arguments.
[[nodiscard]] Arguments parse_arguments(const Command& command,
                                        const std::vector<std::string>& words);

}  // namespace headway
