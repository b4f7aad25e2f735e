#pragma once

#include <vector>

#include "sim/cli/options/option.h"

namespace headway {

/// What `headway validate` takes.
[[nodiscard]] std::vector<Option> validate_options();

}  // namespace headway
