#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/base/diagnostic.h"

namespace headway {

/// A scenario that a program wrote, with fewer words: without the fields of the strategy that
/// would be the same if nobody said them. Read as a user's is: what is wrong with it is reported,
/// and it comes back as it was.
[[nodiscard]] nlohmann::json shorter_scenario(const nlohmann::json& scenario,
                                              Diagnostics& diagnostics);

}  // namespace headway
