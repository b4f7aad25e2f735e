#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/result/decision/choice.h"

namespace headway {

/// What the candidates are judged by, which is the best, which are within 1 % of it, and which of
/// those needs fewest; null if nothing was simulated.
[[nodiscard]] nlohmann::json choice_json(const std::vector<Candidate>& candidates);

}  // namespace headway
