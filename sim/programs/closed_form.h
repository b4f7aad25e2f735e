#pragma once

#include <span>

#include "sim/base/units.h"
#include "sim/costs/kind_profiles.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"

namespace headway {

struct KnownJobs;
struct Strategy;

/// What an iteration takes if its flows meet nobody else's: the analytic twin of the simulation.
/// Steps through the programs of one replica (the recurrence start = max(own end, what it waits
/// for)) with the closed forms of transfers and collectives; those between replicas that leave a
/// group over the same NICs, or the same scale-up fabric, are served in the order in which they
/// come, and what one leaves of these the next takes. Where replicas stand differently, of one of
/// each sort, with those that it exchanges with in its passes: the slowest counts. Equal to the
/// simulation where nothing contends and ranks are alike; README.md of this folder says where they
/// part.
///
/// Programs as `build_workload` makes them for some replicas or for all.
/// `slowdowns` (>= 1, one a stage; none: as they are) stretch the blocks of each stage.
[[nodiscard]] Seconds closed_form_time(const Workload& workload, const Topology& topology,
                                       std::span<const double> slowdowns = {});

/// How long a group waits for others of its replica, by the same recurrence where every rank is
/// nominal: what the order of passes leaves idle, (p - 1) / (v m) of its passes for p equal stages
/// of v chunks and m micro-batches (Narayanan et al. 2021, section 2.2). Transfers under way are no
/// waiting.
///
/// Of a workload without servers.
[[nodiscard]] Seconds nominal_waiting(const Workload& workload, const Topology& topology,
                                      std::int32_t group);

/// closed_form_time of a job. Blocks are stretched by the median, over runs, of the slowest
/// device's factor: of n lognormal draws the largest is below exp(sigma * quantile(0.5^(1/n))) half
/// the time. Where accelerators are listed as slow, that of the slowest replica (slow_replicas.h).
/// `known` is as for `build_workload`.
[[nodiscard]] Seconds closed_form_iteration(const Model& model, const Strategy& strategy,
                                            const KindProfiles& profiles, const Cluster& cluster,
                                            const Placement& placement,
                                            const Perturbation& perturbation,
                                            KnownJobs* known = nullptr);

}  // namespace headway
