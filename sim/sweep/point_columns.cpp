#include "sim/sweep/point_columns.h"

#include <nlohmann/json.hpp>
#include <string>

namespace headway {

std::optional<double> column_value(const PointColumn& column, const nlohmann::json& result) {
  const nlohmann::json::json_pointer place{std::string(column.pointer)};
  if (!result.is_object() || !result.contains(place)) return std::nullopt;
  const nlohmann::json& value = result.at(place);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

}  // namespace headway
