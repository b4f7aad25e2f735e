#pragma once

#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// More rows than these, or more spans in a row, show nothing more on a screen.
inline constexpr std::size_t kActivityRows = 16;
inline constexpr std::size_t kActivitySpans = 500;

/// What the groups of one replica did, that in which the critical path `path` spends most of its
/// time: one group of each pipeline stage, of long pipelines kActivityRows evenly from the first to
/// the last. Blocks have their own names, collectives those of their communicators; waiting for a
/// message is told from its transfer, waiting for the last rank from the collective.
///
/// Spans are exact to six digits of the iteration. Of a row of more than kActivitySpans those below
/// a two-thousandth of it, which nobody would see, are left out; where that is too little or loses
/// too much, the row is cut into as many equal slices, each of the kind that takes most of it.
/// Empty for a job that was not simulated.
[[nodiscard]] Activity activity_of(const Workload& workload, const Timeline& timeline,
                                   const std::vector<CriticalSegment>& path);

}  // namespace headway
