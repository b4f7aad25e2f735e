#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sim/files/field_type.h"
#include "sim/files/json_document.h"
#include "sim/network/cluster.h"

namespace headway {

/// What of a scenario decides what its "cost" means.
struct CostContext {
  /// Tokens of the scenario's "reliability", which the cost's may only repeat; infinite where that
  /// could not be read.
  std::optional<double> train_tokens;
  const Cluster* cluster = nullptr;  ///< nullptr: could not be read
  int spare_nodes = 0;               ///< beside those of the cluster
  bool has_spot_nodes = false;       ///< some of them come and go
  bool has_target = false;           ///< the run has the steps that its statistics say
  bool has_duration = false;         ///< it lasts as long as the scenario's "reliability" says
};

/// Reads the "cost" of a scenario: what is rented and bought, what power is drawn. Returns it with
/// its defaults, what follows from the parts of the cluster among them; `run_cost` makes costs of
/// it. Problems go into the diagnostics.
[[nodiscard]] nlohmann::json read_cost(const JsonCursor& part, const CostContext& context,
                                       Diagnostics& diagnostics);

/// Its fields.
[[nodiscard]] std::vector<FieldDescription> cost_field_descriptions();

}  // namespace headway
