#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/support/random_numbers.h"

namespace headway {

/// Changes a few numbers and quantities by factors that a planner may take, which leaves many
/// documents what they were for.
void nudge(nlohmann::json& document, RandomNumbers& random);

/// Breaks a document in one place: another type, sign or size of a value, a unit, a field that is
/// gone, doubled, renamed or moved. What comes out is JSON. Returns what was done, for messages.
std::string mutate(nlohmann::json& document, RandomNumbers& random);

/// Breaks the text of a document: cuts, bytes, byte order marks, line ends, nesting of 100,000,
/// arrays of a million, keys twice, names of 100 kB. Mostly no JSON any more.
std::string mutate_text(std::string& text, RandomNumbers& random);

}  // namespace headway
