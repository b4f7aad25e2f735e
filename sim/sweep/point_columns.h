#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/result/decision/objective.h"
#include "sim/result/prediction.h"

namespace headway {

/// A number of a prediction that the store repeats in a column of its own, so that plain SQL reads
/// it. It has the name that result documents give it, unit included.
struct PointColumn {
  std::string_view name;
  std::optional<double> (*of)(const Prediction& prediction, const DecisionNumbers& decision);
};

[[nodiscard]] std::span<const PointColumn> point_columns();

/// The columns of a prediction, in order; nothing where it does not have the number.
[[nodiscard]] std::vector<std::optional<double>> column_values(const Prediction& prediction);

}  // namespace headway
