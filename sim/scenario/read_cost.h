#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sim/files/json_document.h"

namespace headway {

/// Reads the "cost" of a scenario: what a GPU-hour costs, what power an accelerator draws. Returns
/// it with its defaults; `run_cost` makes costs of it. Problems go into the diagnostics.
[[nodiscard]] nlohmann::json read_cost(const JsonCursor& part, Diagnostics& diagnostics);

}  // namespace headway
