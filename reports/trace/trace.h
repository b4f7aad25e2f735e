#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// The rank groups that a trace shows, as indices into Workload::groups. None stands for the
/// replica of the critical group: one group of each pipeline stage.
struct TraceSelection {
  std::vector<std::int32_t> groups;
};

/// Writes one iteration as a Chrome JSON trace, which Perfetto opens (Google, "Trace Event
/// Format"). A process is a rank group, a thread one of its streams: compute, waiting, each of its
/// communicators, sends and receives (several tracks where transfers of a group overlap in time).
/// Spans of one thread never overlap. An arrow leads from each transfer between two shown groups to
/// the computation that it feeds. Times are microseconds with three decimals, rounded to the
/// nanosecond; amounts are bytes of one rank.
///
/// Nothing but the selection bounds the size: ask trace_event_count first. Left out: what has no
/// length. A job that was not simulated (no groups at all) gives a trace without events. Requires
/// indices of groups that exist.
void write_trace(std::ostream& stream, const Workload& workload, const Timeline& timeline,
                 const TraceSelection& selection = {});

/// How many events write_trace would write.
[[nodiscard]] std::int64_t trace_event_count(const Workload& workload, const Timeline& timeline,
                                             const TraceSelection& selection = {});

/// About what an event takes in the file.
inline constexpr std::int64_t kTraceBytesPerEvent = 180;

}  // namespace headway
