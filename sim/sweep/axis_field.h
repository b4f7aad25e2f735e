#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/files/json_document.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/axis.h"

namespace headway {

/// Reports axes that a sweep of `base` cannot have: names that no field bears (with did-you-mean),
/// two that set the same, numbers of GPUs that are no whole nodes.
///
/// A name is a JSON pointer ("/model/layers"), a field of the strategy ("tensor_parallel"), or one
/// of these, which change more than one field:
///
///     gpus       as many nodes; data_parallel fills them; the global batch stays (strong scaling)
///     gpus_weak  the same, and the global batch grows with data_parallel (weak scaling)
///     nodes      gpus, counted in nodes
void check_axes(const std::vector<Axis>& axes, const Scenario& base, Diagnostics& diagnostics);

/// What makes a point of the base scenario, given the value of every axis. Where an axis changes
/// the cluster or a degree, data_parallel becomes what the other degrees leave of the cluster,
/// unless an axis sets it. Whether the point makes sense is for `read_scenario` to say. Requires
/// checked axes.
[[nodiscard]] std::vector<Override> point_overrides(const nlohmann::ordered_json& values,
                                                    const Scenario& base);

}  // namespace headway
