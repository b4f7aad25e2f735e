#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/prediction.h"
#include "sim/result/timeline.h"

namespace headway {

/// The rank group that finishes last; of several the one that waits least, hence computes most; of
/// equal ones the first.
[[nodiscard]] std::int32_t critical_group(const Workload& workload, const Timeline& timeline);

/// The stage of that group's replica that computes most at nominal speed; of equal ones the first.
/// Which group ends last is drawn; what limits a pipeline is not.
[[nodiscard]] std::int32_t busiest_group(const Workload& workload, std::int32_t of_replica_of);

/// Where the time of a group goes, from 0 to the end of the iteration. Computing is charged to its
/// block's causes at nominal speed, what a slower device or an unlucky draw adds to straggler_wait.
/// Waiting for a message is pipeline_transfer while the message is under way and pipeline_bubble
/// before; waiting for a collective is straggler_wait until its last member joins and what its
/// communicator's time is charged to from then on.
[[nodiscard]] TimeByCause group_breakdown(const Workload& workload, const Timeline& timeline,
                                          std::int32_t group);

/// The same of its operations from `first` to before `end`.
[[nodiscard]] TimeByCause breakdown_between(const Workload& workload, const Timeline& timeline,
                                            std::int32_t group, std::int64_t first,
                                            std::int64_t end);

/// Tells what a group waits by its causes: `nominal` is what it waits for others where every rank
/// is nominal, hence pipeline_bubble, and what it loses beyond that straggler_wait, whichever of
/// them it shows up as: because others are slow, or because links that they share hold them up. The
/// sum stays.
void settle_waiting(TimeByCause& time, Seconds nominal);

/// "stage 3, replica 17"
[[nodiscard]] std::string group_name(const Workload& workload, std::int32_t group);

/// The chain of operations and transfers, each starting when the one before ends, that leads from
/// time 0 to the end of the critical group. Neighbouring segments of one kind at one place are
/// merged.
[[nodiscard]] std::vector<CriticalSegment> critical_path(const Workload& workload,
                                                         const Timeline& timeline);

}  // namespace headway
