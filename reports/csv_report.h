#pragma once

#include <span>
#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// A header and a row for each prediction (RFC 4180), SI numbers with the unit in the header; empty
/// where there is no number. Names that a spreadsheet would take for a formula get an apostrophe.
[[nodiscard]] std::string csv_report(const Prediction& prediction);
[[nodiscard]] std::string csv_table(std::span<const Prediction> predictions);

}  // namespace headway
