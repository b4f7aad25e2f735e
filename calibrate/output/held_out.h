#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "calibrate/measure/segment_fit.h"
#include "sim/costs/kernel_cost.h"

namespace headway {

/// What a cost model is worth between the rows of the table that it corrects itself by: every
/// `stride`th row, from the third on, is taken out of `device` and predicted from the rest by
/// `cost_of(rest, row)`, unless it then lies outside of them. Nothing for fewer than 12 rows.
template <class Row, class CostOf>
[[nodiscard]] std::optional<FitError> held_out_error(const DeviceCosts& device,
                                                     std::vector<Row> DeviceCosts::* table,
                                                     std::size_t stride, CostOf cost_of) {
  const std::vector<Row>& rows = device.*table;
  if (rows.size() < 12) return std::nullopt;
  DeviceCosts rest = device;
  (rest.*table).clear();
  std::vector<Row> held_out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (i % stride == 2 ? held_out : rest.*table).push_back(rows[i]);
  }
  std::vector<double> errors;
  for (const Row& row : held_out) {
    const Cost cost = cost_of(rest, row);
    if (cost.status == CostStatus::extrapolated) continue;
    errors.push_back(std::abs(cost.time / row.time - 1.0));
  }
  if (errors.empty()) return std::nullopt;
  return relative_errors(errors);
}

}  // namespace headway
