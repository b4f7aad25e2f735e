#pragma once

#include "sim/scenario/reliability_settings.h"

namespace headway {

/// How many nodes are broken and not back yet, in the long run and in closed form.
///
/// What breaks does so whether the job runs or not, and every node is repaired by itself: a queue
/// with as many servers as customers (M/G/infinity). The number in it is Poisson with mean
/// rate x repair time, however long single repairs take (Palm 1943; Mirasol 1963, "The output of an
/// M/G/infinity queuing system is Poisson"). Where a failure takes several nodes at once the number
/// is a sum of Poisson ones times what each takes, whose distribution Panjer's recursion gives
/// (Panjer 1981, "Recursive evaluation of a family of compound distributions"). Lifetimes that are
/// not memoryless count with their mean: of many units together they are Poisson nearly so.
[[nodiscard]] double mean_nodes_in_repair(const ReliabilitySettings& settings);

/// The share of the time in which more are in repair than there are spares: a job that needs all of
/// its nodes stands still then, unless new ones are ordered.
[[nodiscard]] double share_beyond_spares(const ReliabilitySettings& settings, int spare_nodes);

}  // namespace headway
