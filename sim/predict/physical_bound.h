#pragma once

#include "sim/costs/kind_profiles.h"
#include "sim/jobs/memory.h"
#include "sim/layers/model.h"
#include "sim/network/topology.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

struct Strategy;

/// What no iteration can be faster than, whatever software runs it. Each part alone is a bound.
struct PhysicalBound {
  /// Model FLOPs of the busiest stage's ranks over the peak of the precision.
  Seconds compute;
  /// What the fullest stage's ranks read and write at least once a step over the memory's
  /// bandwidth: parameters read, optimizer states read and written.
  Seconds memory;
  /// What the busiest link carried over its capacity.
  Seconds network;
  [[nodiscard]] Seconds longest() const { return max(compute, max(memory, network)); }
};

/// With the rates of the fastest kind of accelerator. Recomputation, attention above the causal
/// half and work in wider formats only add to it.
[[nodiscard]] PhysicalBound physical_bound(const Model& model, const Strategy& strategy,
                                           const KindProfiles& profiles, const Workload& workload,
                                           const Timeline& timeline, const Topology& topology);

/// Throws InternalError, with the bound that it breaks, if an iteration of this time was faster
/// than physics allows. Devices that the perturbation makes faster than nominal are allowed that
/// much; random draws six standard deviations.
void check_physical(const PhysicalBound& bound, Seconds iteration,
                    const Perturbation& perturbation);

}  // namespace headway
