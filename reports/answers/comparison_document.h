#pragma once

#include <nlohmann/json_fwd.hpp>

#include "reports/document/document.h"
#include "sim/result/comparison.h"

namespace headway {

/// What differs in the inputs, what in the results, and which input makes which part of it.
[[nodiscard]] Document comparison_document(const Comparison& comparison);

/// The document "headway/comparison/1": both results in short, the effects, the notes.
[[nodiscard]] nlohmann::json comparison_json(const Comparison& comparison);

}  // namespace headway
