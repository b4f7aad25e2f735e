#include "sim/replay/trace_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "sim/base/index.h"
#include "sim/base/quantile.h"

namespace headway {
namespace {

constexpr double kClockError = 0.01;  ///< seconds; clocks of ranks are synchronised to this
constexpr int kMostUnmatched = 20;
constexpr double kFewPlaces = 1e5;  ///< for operations, which are made even if rows are missing

bool communicates(std::string_view type) {
  return type != trace_type::kForward && type != trace_type::kBackward &&
         type != trace_type::kOptimizer && type != trace_type::kGarbage;
}

/// Turns durations of operations that meet into what they take once all have started.
void take_waiting_out(const TraceGraph& graph, const std::vector<double>& starts,
                      TraceTimes& times) {
  const int steps = static_cast<int>(times.steps.size());
  for (const TraceMeeting& meeting : graph.meetings) {
    for (int step = 0; step < steps; ++step) {
      const int groups = meeting.across_replicas ? 1 : times.replicas;
      for (int group = 0; group < groups; ++group) {
        const int first = meeting.across_replicas ? 0 : group;
        const int last = meeting.across_replicas ? times.replicas : group + 1;
        double all_there = -std::numeric_limits<double>::infinity();
        for (int replica = first; replica < last; ++replica) {
          for (const int member : meeting.members) {
            all_there = std::max(all_there, starts[times.place(step, replica, member)]);
          }
        }
        for (int replica = first; replica < last; ++replica) {
          for (const int member : meeting.members) {
            const std::size_t place = times.place(step, replica, member);
            const double transfer = starts[place] + times.values[place] - all_there;
            times.values[place] = transfer <= -kClockError ? 0.0 : transfer;
          }
        }
      }
    }
  }
}

}  // namespace

LaidOutTrace lay_out(const std::vector<TraceRow>& rows, const TraceGraph& graph,
                     const std::string& path, Diagnostics& diagnostics) {
  LaidOutTrace trace;
  TraceTimes& times = trace.times;
  std::set<int> steps;
  for (const TraceRow& row : rows) {
    steps.insert(row.step);
    times.replicas = std::max(times.replicas, row.replica + 1);
  }
  times.steps.assign(steps.begin(), steps.end());
  times.operations = static_cast<int>(graph.operations.size());
  // Whoever names a replica or a step says that every operation of it is there. So many places are
  // made only if there are rows for them.
  const double wanted = static_cast<double>(steps.size()) * times.replicas * times.operations;
  if (wanted > 2.0 * static_cast<double>(rows.size()) + kFewPlaces) {
    Diagnostic problem;
    problem.message = fmt::format(
        "{} operations in {} steps of {} replicas are {:.6g}, and the trace has {} rows",
        times.operations, steps.size(), times.replicas, wanted, rows.size());
    problem.location.file = path;
    problem.help = "every step and replica has to hold the same operations";
    diagnostics.add(std::move(problem));
    return trace;
  }
  std::map<std::tuple<std::string, int, int>, int> numbers;
  for (int i = 0; i < times.operations; ++i) {
    const TraceOperation& operation = graph.operations[index(i)];
    numbers[{operation.type, operation.sequence, operation.stage}] = i;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  times.values.assign(times.place(static_cast<int>(steps.size()), 0, 0), kNone);
  std::vector<double> starts(times.values.size(), kNone);
  trace.rank_of.assign(index(times.replicas) * index(graph.stages), -1);

  int problems = 0;
  const auto report = [&](std::string message) {
    if (++problems > kMostUnmatched) return;
    Diagnostic problem;
    problem.message = std::move(message);
    problem.location.file = path;
    problem.help = "every step and replica has to hold the same operations";
    diagnostics.add(std::move(problem));
  };
  std::vector<double> first(steps.size(), std::numeric_limits<double>::infinity());
  std::vector<double> last(steps.size(), -std::numeric_limits<double>::infinity());
  for (const TraceRow& row : rows) {
    const auto step =
        static_cast<int>(std::ranges::lower_bound(times.steps, row.step) - times.steps.begin());
    const auto found = numbers.find({row.type, row.sequence, row.stage});
    const auto name = [&] {
      return fmt::format("{} {} on stage {} of replica {} in step {}", row.type, row.sequence,
                         row.stage, row.replica, row.step);
    };
    if (found == numbers.end()) {
      report(fmt::format("{} is not in the first step of replica 0", name()));
      continue;
    }
    const std::size_t place = times.place(step, row.replica, found->second);
    if (starts[place] == starts[place]) report(fmt::format("{} stands there twice", name()));
    starts[place] = row.start;
    times.values[place] = row.duration;
    first[index(step)] = std::min(first[index(step)], row.start);
    last[index(step)] = std::max(last[index(step)], row.end());
    trace.rank_of[index(row.replica * graph.stages + row.stage)] = row.rank;
  }
  for (int step = 0; step < std::ssize(times.steps); ++step) {
    for (int replica = 0; replica < times.replicas; ++replica) {
      for (int i = 0; i < times.operations; ++i) {
        if (const double start = starts[times.place(step, replica, i)]; start == start) continue;
        const TraceOperation& operation = graph.operations[index(i)];
        report(fmt::format("{} {} on stage {} of replica {} is missing in step {}", operation.type,
                           operation.sequence, operation.stage, replica, times.steps[index(step)]));
      }
    }
    trace.measured.push_back(last[index(step)] - first[index(step)]);
  }
  if (problems == 0) take_waiting_out(graph, starts, times);
  return trace;
}

TraceTimes ideal_times(const TraceTimes& times, const TraceGraph& graph) {
  std::map<std::string, std::vector<double>> by_type;
  for (std::size_t i = 0; i < times.values.size(); ++i) {
    const auto operation = static_cast<int>(i % static_cast<std::size_t>(times.operations));
    by_type[graph.operations[index(operation)].type].push_back(times.values[i]);
  }
  std::map<std::string, double> typical;
  for (auto& [type, values] : by_type) {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    typical[type] =
        communicates(type) ? median(std::move(values)) : sum / static_cast<double>(values.size());
  }
  TraceTimes ideal = times;
  for (std::size_t i = 0; i < times.values.size(); ++i) {
    const auto operation = static_cast<int>(i % static_cast<std::size_t>(times.operations));
    ideal.values[i] = typical.at(graph.operations[index(operation)].type);
  }
  return ideal;
}

std::vector<double> replayed_steps(const TraceGraph& graph, const TraceTimes& times) {
  std::vector<double> lengths;
  std::vector<double> ends(index(times.replicas) * index(times.operations), 0.0);
  const auto end_of = [&](int replica, int operation) -> double& {
    return ends[index(replica) * index(times.operations) + index(operation)];
  };
  const auto start_of = [&](int replica, int operation) {
    double start = 0.0;
    for (const int before : graph.operations[index(operation)].after) {
      start = std::max(start, end_of(replica, before));
    }
    return start;
  };
  const bool has_optimizer = std::ranges::any_of(graph.operations, [](const TraceOperation& one) {
    return one.type == trace_type::kOptimizer;
  });
  for (int step = 0; step < std::ssize(times.steps); ++step) {
    const auto time_of = [&](int replica, int operation) {
      return times.values[times.place(step, replica, operation)];
    };
    for (const int unit : graph.order) {
      if (unit >= 0) {
        for (int replica = 0; replica < times.replicas; ++replica) {
          end_of(replica, unit) = start_of(replica, unit) + time_of(replica, unit);
        }
        continue;
      }
      const TraceMeeting& meeting = graph.meetings[index(-1 - unit)];
      std::vector<double> all_there(static_cast<std::size_t>(times.replicas), 0.0);
      for (int replica = 0; replica < times.replicas; ++replica) {
        for (const int member : meeting.members) {
          all_there[index(replica)] =
              std::max(all_there[index(replica)], start_of(replica, member));
        }
      }
      const double everybody = std::ranges::max(all_there);
      for (int replica = 0; replica < times.replicas; ++replica) {
        const double start = meeting.across_replicas ? everybody : all_there[index(replica)];
        for (const int member : meeting.members) {
          end_of(replica, member) = start + time_of(replica, member);
        }
      }
    }
    double finish = 0.0;
    for (int replica = 0; replica < times.replicas; ++replica) {
      for (int i = 0; i < times.operations; ++i) {
        if (has_optimizer && graph.operations[index(i)].type != trace_type::kOptimizer) continue;
        finish = std::max(finish, end_of(replica, i));
      }
    }
    lengths.push_back(finish);
  }
  return lengths;
}

}  // namespace headway
