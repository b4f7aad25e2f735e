#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sim/files/json_document.h"

namespace headway {

/// Reads the "cost" of a scenario: what a GPU-hour costs, what power an accelerator draws. Returns
/// it with its defaults; `run_cost` makes costs of it. Problems go into the diagnostics.
///
/// `train_tokens`: of the scenario's "reliability", which its "tokens" may only repeat; infinite
/// where that could not be read.
[[nodiscard]] nlohmann::json read_cost(const JsonCursor& part,
                                       const std::optional<double>& train_tokens,
                                       Diagnostics& diagnostics);

}  // namespace headway
