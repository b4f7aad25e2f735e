#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "sim/base/power.h"
#include "sim/result/prediction.h"

namespace headway {

/// What one iteration costs, as far as the scenario's "cost" gives the inputs.
struct RunCost {
  std::optional<double> usd;
  std::optional<Joules> energy;  ///< at the meter: the cluster's, times the PUE
  std::optional<double> carbon_kg;
  double tokens = 0.0;  ///< of an iteration; 0 for a model without any

  /// Iterations of the whole run, where the scenario says how many tokens it trains on. They are
  /// not rounded: the last one may be a part.
  std::optional<double> iterations;
};

/// Price: accelerators x time x price of an accelerator-hour. Energy: every accelerator's time goes
/// to causes as the critical rank's does; computing (compute, recompute, optimizer), exchanging
/// (tensor, context, expert, pipeline and data parallel) and waiting (bubbles, stragglers, data,
/// other) each draw their power; the building multiplies it by its power usage effectiveness
/// (ISO/IEC 30134-2). Carbon: energy in kWh times the intensity of the grid. What hosts and
/// switches draw is not counted, unless the powers given are shares of a node's.
///
/// Nothing for a prediction without "cost" in its scenario, or without a time.
[[nodiscard]] std::optional<RunCost> run_cost(const Prediction& prediction);

}  // namespace headway
