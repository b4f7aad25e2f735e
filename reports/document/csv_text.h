#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// `text` as a cell: in quotes where a comma, a quote or a line end asks for them, behind an
/// apostrophe where a spreadsheet would take it for a formula.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// As many digits as it takes to read the same number back; empty if it is not finite.
[[nodiscard]] std::string csv_number(double value);

/// Cells of texts with commas between them, without a line end.
[[nodiscard]] std::string csv_cells(const std::vector<std::string>& texts);

/// Records, which are JSON objects, as a header and a row each: units stand in the names, numbers
/// in SI base units, as in the JSON document that the records are of. A column is the name of a
/// member, or its path ("strategy/micro_batch", "interval_s/0") behind the name that it is to have
/// ("low_s=interval_s/0"); a path alone is named by its last part. Members that are missing or null
/// are empty; lists are joined by blanks.
[[nodiscard]] std::string csv_of(const nlohmann::json& records,
                                 std::initializer_list<std::string_view> columns);

}  // namespace headway
