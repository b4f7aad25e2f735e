#include "sim/result/last_iteration.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/result/breakdown.h"
#include "sim/result/workload_index.h"

namespace headway {
namespace {

constexpr double kUnsettled = 0.25;  ///< share of a run in which workers spread out

/// When a group's rounds were over whose answers all came before the run ended; from 0.
std::vector<double> round_ends(const Workload& workload, const Timeline& timeline,
                               std::int32_t group) {
  const Program& program = program_of(workload, group);
  const auto ends = timeline.ends_of(group);
  const auto messages = timeline.messages_of(group);
  std::vector<double> times = {0.0};
  for (std::size_t i = 0; i < program.rounds.size(); ++i) {
    const std::int64_t next =
        i + 1 < program.rounds.size() ? program.rounds[i + 1] : std::ssize(ends);
    for (std::int64_t k = program.rounds[i]; k < next; ++k) {
      const Operation& operation = at(program.operations, k);
      const bool is_cut =
          operation.kind == OperationKind::pull && std::isnan(at(messages, operation.slot).arrived);
      if (is_cut) return times;
    }
    times.push_back(at(ends, next - 1));
  }
  return times;
}

/// Iterations a second of a group that is not through with one: what it has computed of the first,
/// in the time of it, says how long all of it takes, which is more than the run. 0 where it has
/// computed nothing.
double rate_of_unfinished(const Workload& workload, const Timeline& timeline, std::int32_t group) {
  const Program& program = program_of(workload, group);
  const auto ends = timeline.ends_of(group);
  const std::int64_t next = std::ssize(program.rounds) > 1 ? program.rounds[1] : std::ssize(ends);
  Seconds whole;
  Seconds done;
  double time = 0.0;
  for (std::int64_t k = 0; k < next; ++k) {
    const Operation& operation = at(program.operations, k);
    if (operation.kind != OperationKind::compute) continue;
    const Seconds work = at(program.blocks, operation.block).time.total();
    whole += work;
    if (at(ends, k) >= timeline.finish) continue;
    done += work;
    time = at(ends, k);
  }
  if (time == 0.0) return 0.0;
  return std::min(done / whole / time, 1.0 / timeline.finish);
}

/// Rounds of a group from which its pace is known: all but the first quarter. None of one that is
/// not through with any.
struct SettledRounds {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double seconds = 0.0;

  [[nodiscard]] bool none() const { return last == 0; }
};

SettledRounds settled_rounds(const Workload& workload, const Timeline& timeline,
                             std::int32_t group) {
  const std::vector<double> ends = round_ends(workload, timeline, group);
  const auto last = std::ssize(ends) - 1;
  if (last == 0) return {};
  const auto first =
      std::min<std::int64_t>(last - 1, static_cast<std::int64_t>(kUnsettled * workload.iterations));
  return {first, last, at(ends, last) - at(ends, first)};
}

/// Where the average worker's time goes while all together do an iteration each, which takes
/// `length`. The time of one that is not through with any is that of the run.
TimeByCause average_worker(const Workload& workload, const Timeline& timeline, double length) {
  TimeByCause sum;
  for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
    const Program& program = program_of(workload, group);
    const SettledRounds settled = settled_rounds(workload, timeline, group);
    if (settled.none()) {
      sum += length / timeline.finish * group_breakdown(workload, timeline, group);
      continue;
    }
    const auto begin = [&](std::int64_t round) {
      return round < std::ssize(program.rounds) ? std::int64_t{at(program.rounds, round)}
                                                : std::ssize(program.operations);
    };
    sum += length / settled.seconds *
           breakdown_between(workload, timeline, group, begin(settled.first), begin(settled.last));
  }
  return 1.0 / static_cast<double>(workload.groups.size()) * sum;
}

}  // namespace

std::vector<double> paces(const Workload& workload, const Timeline& timeline) {
  std::vector<double> all;
  for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
    const SettledRounds settled = settled_rounds(workload, timeline, group);
    all.push_back(settled.none()
                      ? rate_of_unfinished(workload, timeline, group)
                      : static_cast<double>(settled.last - settled.first) / settled.seconds);
  }
  return all;
}

double settled_iteration_time(const Workload& workload, const Timeline& timeline) {
  if (!workload.is_out_of_step()) return timeline.finish / workload.iterations;
  double rate = 0.0;  // iterations of all groups in a second
  for (const double pace : paces(workload, timeline)) rate += pace;
  HEADWAY_CHECK(rate > 0.0, "no group was through with an iteration");
  return static_cast<double>(workload.groups.size()) / rate;
}

Timeline last_iteration(const Workload& workload, const Timeline& timeline) {
  const double length = settled_iteration_time(workload, timeline);
  const double share = length / timeline.finish;
  const double begin = timeline.finish - length;
  Timeline last = timeline;
  last.finish = length;
  if (workload.is_out_of_step()) {
    last.average_worker = average_worker(workload, timeline, length);
  }
  for (double& end : last.operation_end) end = std::max(0.0, end - begin);
  for (Timeline::Message& message : last.messages) {
    message.sent -= begin;
    message.arrived -= begin;
  }
  for (double& bytes : last.plan_bytes) bytes *= share;
  for (Timeline::Served& served : last.served) served.busy *= share;
  std::erase_if(last.updates, [&](const Timeline::Update& update) {
    return update.time <= kUnsettled * timeline.finish;
  });
  return last;
}

}  // namespace headway
