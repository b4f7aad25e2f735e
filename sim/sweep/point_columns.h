#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace headway {

/// A number of a result that the store repeats in a column of its own, so that plain SQL reads it.
struct PointColumn {
  std::string_view name;     ///< of the column, unit included
  std::string_view pointer;  ///< into the result
};

inline constexpr std::array kPointColumns = {
    PointColumn{"gpus", "/gpus"},
    PointColumn{"iteration_time_s", "/iteration_time_s"},
    PointColumn{"iteration_time_low_s", "/iteration_time_interval_s/0"},
    PointColumn{"iteration_time_high_s", "/iteration_time_interval_s/1"},
    PointColumn{"samples_per_s", "/samples_per_s"},
    PointColumn{"tokens_per_s", "/tokens_per_s"},
    PointColumn{"tokens_per_s_per_gpu", "/tokens_per_s_per_gpu"},
    PointColumn{"model_tflops_per_gpu", "/model_tflops_per_gpu"},
    PointColumn{"mfu", "/mfu"},
    PointColumn{"hfu", "/hfu"},
    PointColumn{"scaling_efficiency", "/scaling_efficiency"},
    PointColumn{"memory_bytes", "/memory_bytes/largest"},
    PointColumn{"memory_capacity_bytes", "/memory_bytes/capacity"},
    PointColumn{"cost_usd", "/cost_usd"},
    PointColumn{"energy_J", "/energy_J"},
    PointColumn{"run_time_s", "/run_time_s"},
    PointColumn{"run_cost_usd", "/run_cost_usd"},
};

/// Its value in a result; nothing where the result does not have it.
[[nodiscard]] std::optional<double> column_value(const PointColumn& column,
                                                 const nlohmann::json& result);

}  // namespace headway
