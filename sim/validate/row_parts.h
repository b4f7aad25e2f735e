#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/costs/accelerators.h"
#include "sim/validate/validation_row.h"

namespace headway {

struct Framework;

// The parts of a scenario that a published row describes, as the JSON that a user would write.
// Each adds to `assumed` what the row does not say, and has its own reasons to refuse a row.

/// Empty if our models cover the row's model, else why not.
[[nodiscard]] std::string uncovered_model(const PublishedRow& row);
[[nodiscard]] nlohmann::json row_model(const PublishedRow& row, std::vector<std::string>& assumed);

/// nullptr if there is no profile of the row's accelerator.
[[nodiscard]] const Accelerator* accelerator_of(const PublishedRow& row);
/// A fabric that is nobody's bottleneck: the sources describe full-bisection InfiniBand fabrics.
[[nodiscard]] nlohmann::json row_topology(const PublishedRow& row, const Accelerator& accelerator);

/// What the row's software does where the row is silent: the framework whose `published_as` says
/// most of it. nullptr if there is none.
[[nodiscard]] const Framework* framework_of(const PublishedRow& row);

/// Empty if our strategies cover how the row was trained, else why not.
[[nodiscard]] std::string uncovered_strategy(const PublishedRow& row);
/// The job as a user of that framework would write it: the preset, and what the row says. What the
/// published recipe of the row's release sets and the row leaves open is as in the recipe. Open is
/// also a mode of CUDA graphs that the row's own `defaults_used` call an assumption. Requires that
/// the row is covered.
[[nodiscard]] nlohmann::json row_strategy(const PublishedRow& row, const Framework& framework,
                                          std::vector<std::string>& assumed);
/// The same job as somebody writes it who says no more than has to be said: the preset, degrees and
/// batches, precision and task. All else is as the preset has it.
[[nodiscard]] nlohmann::json row_strategy_without_choices(const PublishedRow& row,
                                                          const Framework& framework);

}  // namespace headway
