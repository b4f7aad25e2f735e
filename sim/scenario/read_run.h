#pragma once

#include <cstdint>
#include <optional>

#include "sim/engine/simulate_workload.h"
#include "sim/files/field_table.h"
#include "sim/programs/workload.h"

namespace headway {

/// How a scenario is run; nothing here says anything about the job itself.
struct RunSettings {
  int replicas = 5;  ///< simulations with other draws, for the interval
  std::int64_t seed = 1;
  std::optional<CollectiveAlgorithm> gradient_algorithm;  ///< nothing: the faster one
  EngineOptions engine;
};

[[nodiscard]] const FieldTable<RunSettings>& run_fields();

/// Reads the "run" of a scenario and writes it, resolved, into it; `seed` and `replicas` are taken
/// instead of its own.
[[nodiscard]] RunSettings read_run(ObjectReader& scenario, std::optional<std::uint64_t> seed,
                                   std::optional<int> replicas);

}  // namespace headway
