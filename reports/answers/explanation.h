#pragma once

#include <string>
#include <vector>

#include "sim/reference/explain.h"

namespace headway {

/// What `headway explain` prints of one topic, an object with its fields among `topics`.
[[nodiscard]] std::string explanation(const Topic& topic, const std::vector<Topic>& topics);

/// All topics by kind, each with its first sentence.
[[nodiscard]] std::string explanation_list(const std::vector<Topic>& topics);

/// A page of Markdown with every field of input files among `topics`, and what is promised of them.
[[nodiscard]] std::string field_reference(const std::vector<Topic>& topics);

}  // namespace headway
