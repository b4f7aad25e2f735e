#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace headway {

/// What no prediction of such a scenario has in it, in phrases, what matters most first.
[[nodiscard]] std::vector<std::string> left_out_of(const Scenario& scenario);

}  // namespace headway
