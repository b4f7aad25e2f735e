#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/link_usage.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// Who stands for whom in a folded job: classes are numbered in the order of their first members.
struct Folding {
  std::vector<std::int32_t> class_of_group;
  std::vector<std::int32_t> class_of_communicator;
  std::vector<std::int32_t> first_plan_of_group_class;         ///< of its paths
  std::vector<std::int32_t> first_plan_of_communicator_class;  ///< of its ways; one more at the end
};

/// A job in which one rank group stands for all that do the same at the same times, one
/// communicator and one link likewise.
struct FoldedJob {
  Workload workload;
  LinkUsage usage;
  Folding folding;
};

/// Folds what nothing tells apart: the coarsest partition of groups, communicators and links in
/// which members of a class have the same programs, devices and capacities and as many neighbours
/// of every other class, by the same operations and weights (an equitable partition, found by
/// colour refinement: McKay 1981, section 2). Max-min shares and the order of events are the same
/// for all of a class then, so a link of a class carries, for each flow of the folded job, as much
/// as it carries of all flows that it stands for: the iteration is that of the whole job, at the
/// cost of its classes, and without the rounding that drives apart what is in step.
///
/// Nothing if that does not save at least half of the rank groups, where times are drawn, links
/// change, others send, servers answer or somebody is not waited for.
[[nodiscard]] std::optional<FoldedJob> folded_job(const Workload& workload, const LinkUsage& usage,
                                                  const Perturbation& perturbation);

/// What the engine makes of a job: its timeline, or that of the folded job and who stands for whom.
struct EngineRun {
  Timeline timeline;
  std::optional<Folding> folding;
};

/// The timeline of the whole job.
[[nodiscard]] Timeline unfolded(const Workload& workload, EngineRun run);

}  // namespace headway
