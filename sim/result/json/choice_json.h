#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sim/files/json_stream.h"
#include "sim/result/decision/choice.h"

namespace headway {

/// What the candidates are judged by, which is the best, which are within 1 % of it, and which of
/// those needs fewest; null if nothing was simulated.
[[nodiscard]] nlohmann::json choice_json(const std::vector<Candidate>& candidates);
/// The same as the member "choice" of a document.
void write_choice(JsonStream& document, const Candidates& candidates);

}  // namespace headway
