#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/replay/trace_graph.h"

namespace headway {

/// What every operation of every replica and step takes by itself: its duration where it waits for
/// nobody, else the time from the moment the last one of its meeting started.
struct TraceTimes {
  std::vector<int> steps;  ///< their numbers, ascending
  int replicas = 0;
  int operations = 0;
  std::vector<double> values;  ///< [(step * replicas + replica) * operations + operation]

  [[nodiscard]] std::size_t place(int step, int replica, int operation) const {
    return (static_cast<std::size_t>(step) * static_cast<std::size_t>(replicas) +
            static_cast<std::size_t>(replica)) *
               static_cast<std::size_t>(operations) +
           static_cast<std::size_t>(operation);
  }
};

/// A trace laid out by the operations of its graph.
struct LaidOutTrace {
  TraceTimes times;
  std::vector<double> measured;  ///< of each step: last end - first start
  std::vector<int> rank_of;      ///< [replica * stages + stage]
};

/// Reports steps and replicas that lack operations of the graph or have others. Transfers that seem
/// to end before they could start, by more than clocks of ranks may differ (10 ms), took no time.
[[nodiscard]] LaidOutTrace lay_out(const std::vector<TraceRow>& rows, const TraceGraph& graph,
                                   const std::string& path, Diagnostics& diagnostics);

/// What a job without stragglers would take: every operation the typical time of its type over all
/// ranks and steps, the mean of what computes and the median of what communicates (Lin et al. 2025,
/// section 3: transfers have outliers that computing has not).
[[nodiscard]] TraceTimes ideal_times(const TraceTimes& times, const TraceGraph& graph);

/// How long each step takes, from 0 to the end of the last optimizer (or of whatever ends last,
/// where a trace has none), if operations take these times and nothing else delays them.
[[nodiscard]] std::vector<double> replayed_steps(const TraceGraph& graph, const TraceTimes& times);

}  // namespace headway
