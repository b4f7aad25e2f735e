#pragma once

#include "sim/cli/options/arguments.h"

namespace headway {

[[nodiscard]] Option limit_option();

/// Sets the limits of this process to what `--limit NAME=NUMBER` says.
void set_limits(const Arguments& arguments);

}  // namespace headway
