#pragma once

#include <string>

#include "sim/result/run_cost.h"

namespace headway {

/// "US$ 1.2 M, 45 GJ, 3 k kg of CO2": of the run where the scenario says how many tokens it has,
/// else of an iteration. Empty where the scenario gives no prices.
[[nodiscard]] std::string cost_text(const RunCost& cost);

}  // namespace headway
