#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/trace/trace_transfers.h"
#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// A stretch of time on a track of a trace. Times are whole nanoseconds, so that what is disjoint
/// stays disjoint when it is written.
struct TraceSpan {
  std::string name;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::string arguments;                 ///< JSON members without the braces around them
  std::int64_t starts_flow = -1;         ///< the arrow that leaves it, if any
  std::vector<std::int64_t> ends_flows;  ///< the arrows that lead to it
};

struct TraceTrack {
  std::string name;
  std::string category;
  std::vector<TraceSpan> spans;  ///< in order of time, disjoint, none empty
};

/// The streams of a rank group that have something to show, in the order to draw them.
[[nodiscard]] std::vector<TraceTrack> group_tracks(const Workload& workload,
                                                   const Timeline& timeline, std::int32_t group,
                                                   const TraceTransfers& transfers);

}  // namespace headway
