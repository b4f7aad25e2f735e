#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace headway {

/// The scenario of a row of this source with constants that were fitted without any row of it
/// (scenarios/validation/unseen_sources.json): what somebody whose software and cluster nobody has
/// measured is told. A source that no fit has seen leaves it as it is.
[[nodiscard]] Scenario without_source(Scenario scenario, const std::string& source);

}  // namespace headway
