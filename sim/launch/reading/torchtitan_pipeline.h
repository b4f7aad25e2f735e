#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "sim/launch/reading/given_settings.h"

namespace headway {

/// A degree of torchtitan, from 1 up; 1 where it is not given, or no number.
[[nodiscard]] double torchtitan_degree(const GivenSettings& settings, const std::string& name);

/// Calls a schedule of a pipeline as torchtitan 0.2 does ("interleaved_1f1b" of early releases), or
/// by the nearest one that is modelled, which is a warning.
void settle_torchtitan_schedule(GivenSettings& settings, Diagnostics& diagnostics);

/// What settings say of a pipeline of several stages and the table does not: parts of the model on
/// each stage, as torchtitan counts them (distributed/pipeline_parallel.py), and its breadth-first
/// schedule. `said` has what the table says; `used` gains the settings that were understood. What
/// torchtitan stops at is an error.
void settle_torchtitan_pipeline(const GivenSettings& settings, double layers, nlohmann::json& said,
                                std::set<std::string>& used, Diagnostics& diagnostics);

}  // namespace headway
