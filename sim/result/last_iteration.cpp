#include "sim/result/last_iteration.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
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

}  // namespace

double settled_iteration_time(const Workload& workload, const Timeline& timeline) {
  if (workload.serving.quorum > 0 || workload.servers.empty()) {
    return timeline.finish / workload.iterations;
  }
  double rate = 0.0;  // iterations of all groups in a second
  for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
    const std::vector<double> ends = round_ends(workload, timeline, group);
    const auto last = std::ssize(ends) - 1;
    if (last == 0) {
      rate += rate_of_unfinished(workload, timeline, group);
      continue;
    }
    const auto first = std::min<std::int64_t>(
        last - 1, static_cast<std::int64_t>(kUnsettled * workload.iterations));
    rate += static_cast<double>(last - first) / (at(ends, last) - at(ends, first));
  }
  HEADWAY_CHECK(rate > 0.0, "no group was through with an iteration");
  return static_cast<double>(workload.groups.size()) / rate;
}

Timeline last_iteration(const Workload& workload, const Timeline& timeline) {
  const double length = settled_iteration_time(workload, timeline);
  const double share = length / timeline.finish;
  const double begin = timeline.finish - length;
  Timeline last = timeline;
  last.finish = length;
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
