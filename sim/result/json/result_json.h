#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// The result document of `simulate`, "headway/result/1": numbers in SI base units with the unit in
/// the key. A job that does not fit into memory gives the same keys. What has no finite value, or
/// does not exist (a scaling reference, the speed of a job that was not simulated), is null.
[[nodiscard]] nlohmann::json result_json(const Prediction& prediction);

/// The same as `compact_json` writes it. Half of it is the scenario, whose text is known.
[[nodiscard]] std::string compact_result_text(const Prediction& prediction);

/// The same as a text, indented, newline at the end. Bytes that are not UTF-8 (in a command line)
/// become U+FFFD.
[[nodiscard]] std::string result_json_text(const Prediction& prediction);

}  // namespace headway
