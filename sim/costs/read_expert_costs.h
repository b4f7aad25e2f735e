#pragma once

#include <optional>

#include "sim/costs/profile.h"
#include "sim/files/json_reader.h"

namespace headway {

/// The member "experts" of a profile; nothing if it has none.
[[nodiscard]] std::optional<ExpertCosts> read_expert_costs(ObjectReader& profile);

/// The member "cuda_graphs" of a profile; nothing if it has none.
[[nodiscard]] std::optional<GraphCosts> read_graph_costs(ObjectReader& profile);

}  // namespace headway
