#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/cli/invocation.h"
#include "sim/validate/measured/measured_comparison.h"

namespace headway {

/// `headway validate --measured FILE --profile BEFORE [--profile AFTER]`. Exit code 1 where the
/// predictions are off; a machine too noisy to tell is no negative answer.
[[nodiscard]] int run_measured_validation(const Invocation& invocation);

/// A table of the rows, the errors over them and the verdict.
[[nodiscard]] std::string measured_text(const MeasuredComparison& comparison);

/// "headway/measured_validation/1", in SI base units; errors are fractions.
[[nodiscard]] nlohmann::json measured_json(const MeasuredComparison& comparison);

}  // namespace headway
