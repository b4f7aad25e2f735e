#include "sim/replay/trace_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

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

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Puts the rows of a trace where the graph has their operations.
class TraceLayout {
 public:
  TraceLayout(const std::vector<TraceRow>& rows, const TraceGraph& graph, const std::string& path,
              Diagnostics& diagnostics)
      : rows_(rows), graph_(graph), path_(path), diagnostics_(diagnostics) {
    std::set<int> steps;
    for (const TraceRow& row : rows) {
      steps.insert(row.step);
      times_.replicas = std::max(times_.replicas, row.replica + 1);
    }
    times_.steps.assign(steps.begin(), steps.end());
    times_.operations = static_cast<int>(graph.operations.size());
  }

  LaidOutTrace laid_out() && {
    if (!has_rows_for_all()) return std::move(trace_);
    for (int i = 0; i < times_.operations; ++i) {
      const TraceOperation& operation = graph_.operations[index(i)];
      numbers_[{operation.type, operation.sequence, operation.stage}] = i;
    }
    const std::size_t steps = times_.steps.size();
    times_.values.assign(times_.place(static_cast<int>(steps), 0, 0), kNone);
    starts_.assign(times_.values.size(), kNone);
    first_.assign(steps, kInfinity);
    last_.assign(steps, -kInfinity);
    trace_.rank_of.assign(index(times_.replicas) * index(graph_.stages), -1);
    for (const TraceRow& row : rows_) take(row);
    report_missing();
    for (std::size_t step = 0; step < steps; ++step) {
      trace_.measured.push_back(last_[step] - first_[step]);
    }
    if (problems_ == 0) take_waiting_out(graph_, starts_, times_);
    return std::move(trace_);
  }

 private:
  /// Whoever names a replica or a step says that every operation of it is there. So many places are
  /// made only if there are rows for them.
  bool has_rows_for_all() {
    const double wanted =
        static_cast<double>(times_.steps.size()) * times_.replicas * times_.operations;
    if (wanted <= 2.0 * static_cast<double>(rows_.size()) + kFewPlaces) return true;
    report(fmt::format(
        "{} operations in {} steps of {} replicas are {:.6g}, and the trace has {} rows",
        times_.operations, times_.steps.size(), times_.replicas, wanted, rows_.size()));
    return false;
  }

  void take(const TraceRow& row) {
    const auto name = [&] {
      return fmt::format("{} {} on stage {} of replica {} in step {}", row.type, row.sequence,
                         row.stage, row.replica, row.step);
    };
    const auto found = numbers_.find({row.type, row.sequence, row.stage});
    if (found == numbers_.end()) {
      return report(fmt::format("{} is not in the first step of replica 0", name()));
    }
    const auto step =
        static_cast<int>(std::ranges::lower_bound(times_.steps, row.step) - times_.steps.begin());
    const std::size_t place = times_.place(step, row.replica, found->second);
    if (!std::isnan(starts_[place])) report(fmt::format("{} stands there twice", name()));
    starts_[place] = row.start;
    times_.values[place] = row.duration;
    first_[index(step)] = std::min(first_[index(step)], row.start);
    last_[index(step)] = std::max(last_[index(step)], row.end());
    trace_.rank_of[index(row.replica * graph_.stages + row.stage)] = row.rank;
  }

  void report_missing() {
    for (std::size_t place = 0; place < starts_.size(); ++place) {
      if (!std::isnan(starts_[place])) continue;
      const std::size_t operations = index(times_.operations);
      const std::size_t group = place / operations;
      const TraceOperation& operation = graph_.operations[place % operations];
      report(fmt::format("{} {} on stage {} of replica {} is missing in step {}", operation.type,
                         operation.sequence, operation.stage, group % index(times_.replicas),
                         times_.steps[group / index(times_.replicas)]));
    }
  }

  void report(std::string message) {
    if (++problems_ > kMostUnmatched) return;
    Diagnostic problem;
    problem.message = std::move(message);
    problem.location.file = path_;
    problem.help = "every step and replica has to hold the same operations";
    diagnostics_.add(std::move(problem));
  }

  const std::vector<TraceRow>& rows_;
  const TraceGraph& graph_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  std::map<std::tuple<std::string, int, int>, int> numbers_;  ///< of operations
  LaidOutTrace trace_;
  TraceTimes& times_ = trace_.times;
  std::vector<double> starts_;  ///< by place; kNone where no row was yet
  std::vector<double> first_;   ///< start, by step
  std::vector<double> last_;    ///< end, by step
  int problems_ = 0;
};

}  // namespace

LaidOutTrace lay_out(const std::vector<TraceRow>& rows, const TraceGraph& graph,
                     const std::string& path, Diagnostics& diagnostics) {
  return TraceLayout(rows, graph, path, diagnostics).laid_out();
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
