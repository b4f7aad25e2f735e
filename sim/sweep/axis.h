#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// What changes along one direction of a sweep, and the values that it takes.
struct Axis {
  std::string name;  ///< as it was written: "gpus", "tensor_parallel", "/model/layers"
  std::vector<nlohmann::json> values;
};

/// Reads the value of `--axis`: NAME=ITEM[,ITEM]... where an item is a value, `LO..HI*FACTOR` or
/// `LO..HI+STEP` (whole numbers; HI is reached only if a step ends on it). A value is JSON where it
/// parses as JSON, else a text. One JSON array in place of the items gives values that have commas
/// in them. Reports every problem, and returns what could be understood.
[[nodiscard]] Axis parse_axis(std::string_view text, Diagnostics& diagnostics);

/// The same of several; a name may stand once. Points of all axes together are at most a million.
[[nodiscard]] std::vector<Axis> parse_axes(const std::vector<std::string>& texts,
                                           Diagnostics& diagnostics);

/// Points that the axes span: the product of their lengths; 1 without axes.
[[nodiscard]] std::int64_t point_count(const std::vector<Axis>& axes);

/// The values of point `index` by axis; the last axis changes fastest. Requires index < points.
[[nodiscard]] nlohmann::ordered_json point_values(const std::vector<Axis>& axes,
                                                  std::int64_t index);

}  // namespace headway
