#pragma once

#include <optional>

#include "sim/base/json_reader.h"
#include "sim/profile/profile.h"

namespace headway {

/// The member "experts" of a profile; nothing if it has none.
[[nodiscard]] std::optional<ExpertCosts> read_expert_costs(ObjectReader& profile);

/// The member "cuda_graphs" of a profile; nothing if it has none.
[[nodiscard]] std::optional<GraphCosts> read_graph_costs(ObjectReader& profile);

}  // namespace headway
