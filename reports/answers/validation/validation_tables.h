#pragma once

#include <string_view>
#include <vector>

#include "sim/base/text_table.h"
#include "sim/validate/validation.h"

namespace headway {

/// One line a row: published, predicted, error or refusal.
[[nodiscard]] TextTable row_table(const std::vector<const ValidationRow*>& rows);

/// Errors by the words of one property; over all rows if `property` is empty.
[[nodiscard]] TextTable summary_table(const Validation& validation, std::string_view property);

/// Why rows were refused, and how many for each reason.
[[nodiscard]] TextTable refusal_table(const Validation& validation);

/// What each term left out does to the errors.
[[nodiscard]] TextTable ablation_table(const Validation& validation);

/// The rows that a term moves most.
[[nodiscard]] TextTable moved_table(const Ablation& ablation);

}  // namespace headway
