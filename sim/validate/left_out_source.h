#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace headway {

/// The scenario of a row of this source with constants that were fitted without any row of it
/// (scenarios/validation/unseen_sources.json): what somebody whose software and cluster nobody has
/// measured is told. Of effects it has those that the other sources of its kind tell. A source that
/// no fit has seen leaves it as it is.
[[nodiscard]] Scenario without_source(Scenario scenario, const std::string& source,
                                      bool is_mixture);

}  // namespace headway
