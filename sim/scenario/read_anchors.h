#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "sim/files/json_reader.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// How the scenario of a measured step is read; nothing, with a problem in the diagnostics, if it
/// cannot be.
using MeasuredScenario = std::function<std::optional<Scenario>(const JsonCursor&)>;

/// The "anchor" of a scenario: one measured step, or a list of them; none if there is none, or
/// problems. `cluster` is where the scenario runs (nullptr: it has problems of its own), which has
/// the accelerators that every measured step ran on.
[[nodiscard]] std::vector<Anchor> read_anchors(ObjectReader& scenario, const Cluster* cluster,
                                               InputFiles& files, const MeasuredScenario& read);

}  // namespace headway
