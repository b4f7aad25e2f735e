#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/programs/workload.h"
#include "sim/result/timeline.h"
#include "sim/result/workload_index.h"

namespace headway {

/// What a stretch of a group's time is spent on.
enum class SpanOf {
  block,       ///< computing
  own_send,    ///< its own transfer, which it waits for
  message,     ///< a message of another group
  join,        ///< nothing: joining a collective takes no time
  collective,  ///< one joined before
  push,        ///< nothing: a push takes no time
  answer,      ///< the last answer of servers to what was pushed before
  end_of_run   ///< the other groups, after its last operation
};

/// The time from the end of one operation of a group to the end of the next. This is the one place
/// where waiting is told from transfers: what is waited for starts at `started`, and from then on
/// its bytes are under way.
struct Span {
  SpanOf of = SpanOf::block;
  double begin = 0.0;
  double started = 0.0;  ///< what is waited for; may be before `begin`
  double end = 0.0;
  JoinedCollective collective;  ///< of SpanOf::collective

  /// The group waits for others until then, and for bytes or the block from then on.
  [[nodiscard]] double under_way() const { return std::clamp(started, begin, end); }
};

/// The spans of a group, for as long as the timeline stands: one for each operation of its program,
/// then one to the end of the run, which is negative for a group that nobody waited for.
[[nodiscard]] std::vector<Span> group_spans(const Workload& workload, const Timeline& timeline,
                                            std::int32_t group);

/// Time until its last operation that a group spends on other things than computing and what its
/// own ranks exchange inside layers.
[[nodiscard]] double waiting_time(const Workload& workload, const Timeline& timeline,
                                  std::int32_t group);

}  // namespace headway
