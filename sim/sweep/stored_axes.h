#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/sweep/point_row.h"

namespace headway {

/// Whether it is [{"name", "values"}], as a store has its axes. The others require that.
[[nodiscard]] bool are_axes(const nlohmann::json& axes);

[[nodiscard]] std::vector<std::string> axis_names(const nlohmann::json& axes);

/// Values of the same axes added up over the runs that filled a store, in the order of their
/// naming.
[[nodiscard]] nlohmann::json joined_axes(const nlohmann::json& stored, const nlohmann::json& asked);

/// Sorts points by the places of their values in the axes. Throws nlohmann::json::exception where a
/// point lacks an axis.
void put_in_order(std::vector<SweepPoint>& points, const nlohmann::json& axes);

}  // namespace headway
