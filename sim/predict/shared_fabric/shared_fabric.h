#pragma once

#include "sim/result/shared_fabric.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Runs the scenario's own job and its neighbours together, once for each stretch of time in which
/// the same jobs are on the fabric, and each of them alone; `jobs` simulations at a time.
/// Iterations follow each other until all jobs had several beside all others; what counts is their
/// mean. Throws InputError if one job is too fast for another one to be followed together.
[[nodiscard]] SharedFabric shared_fabric(const Scenario& scenario, int jobs);

}  // namespace headway
