#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/fuzz/limited_run.h"

namespace headway {

/// What no run of the program may do, whatever it was given: end by a signal or with a code that
/// no answer has, refuse without a word of why, print no JSON where it was asked for. Empty if all
/// is well.
[[nodiscard]] std::vector<std::string> broken_promises(const LimitedRun& run);

/// What cannot be in a result of `headway simulate`, whatever was asked: numbers that are none,
/// negative times and bytes, more than a link or an accelerator can do without a warning, sums that
/// do not add up, an interval beside its median. Empty if all is well.
[[nodiscard]] std::vector<std::string> nonsense_in(const nlohmann::json& result);

/// Words in a page or table that no reader should meet: nan, inf. None where a name in the scenario
/// of its `result` is one of them, as pages tell names.
[[nodiscard]] std::vector<std::string> nonsense_in_text(const std::string& text,
                                                        const nlohmann::json& result);

}  // namespace headway
