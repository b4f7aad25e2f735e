#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sim/base/diagnostic.h"
#include "sim/base/source_text.h"

namespace headway {

/// Reads JSON and nothing more lenient: no comments, no trailing commas, no NaN. Nothing, with
/// diagnostics that point at the spot, if `source` is anything else, repeats a key, nests deeper
/// than 200 or holds a number beyond a double.
[[nodiscard]] std::optional<nlohmann::json> parse_json(const SourceText& source,
                                                       Diagnostics& diagnostics);

}  // namespace headway
