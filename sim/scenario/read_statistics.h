#pragma once

#include <optional>

#include "sim/files/field_table.h"

namespace headway {

/// The "statistics" of a scenario: how many steps it takes to what is trained for, as one run of
/// the same model and data had it.
struct StatisticsSettings {
  double steps = 1.0;        ///< to the target,
  double batch = 1.0;        ///< at so many samples a step
  double noise_scale = 1.0;  ///< of gradients, in samples (McCandlish et al. 2018)
  /// On the steps, what the job's way to synchronise or compress is known to cost.
  double penalty = 1.0;
};

[[nodiscard]] const FieldTable<StatisticsSettings>& statistics_fields();

/// Nothing if there is none.
[[nodiscard]] std::optional<StatisticsSettings> read_statistics(ObjectReader& scenario);

}  // namespace headway
