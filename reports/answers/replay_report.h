#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/result/replay.h"

namespace headway {

/// What `headway replay` prints: step times, the slowdown, and what replicas, stages and operations
/// take part in it.
[[nodiscard]] std::string replay_text(const ReplayResult& result);

/// The document "headway/replay/1": seconds and ratios, by step too.
[[nodiscard]] nlohmann::json replay_json(const ReplayResult& result);

}  // namespace headway
