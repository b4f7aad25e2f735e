#include "sim/result/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/result/workload_index.h"

namespace headway {
namespace {

/// Time that a group spends on other things than computing.
double waiting_time(const Workload& workload, const Timeline& timeline, std::int32_t group) {
  const Program& program = program_of(workload, group);
  const auto ends = timeline.ends_of(group);
  double waiting = 0.0;
  double begin = 0.0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (program.operations[i].kind != OperationKind::compute) waiting += ends[i] - begin;
    begin = ends[i];
  }
  return waiting;
}

/// Shares `duration` of a block out to its causes; what goes beyond nominal is lost to slowness. A
/// device that is faster than nominal takes less for each cause.
void charge_block(TimeByCause& time, const TimeByCause& nominal, double duration) {
  const double total = nominal.total().count();
  if (duration < total) {
    time += (duration / total) * nominal;
    return;
  }
  time += nominal;
  time[Cause::straggler_wait] += Seconds(duration - total);
}

}  // namespace

std::string group_name(const Workload& workload, std::int32_t group) {
  const RankGroup& of = at(workload.groups, group);
  return fmt::format("stage {}, replica {}", of.stage, of.replica);
}

std::int32_t critical_group(const Workload& workload, const Timeline& timeline) {
  std::int32_t best = -1;
  double best_end = -1.0;
  double best_waiting = 0.0;
  for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
    const double end = timeline.ends_of(group).back();
    if (end < best_end) continue;
    const double waiting = waiting_time(workload, timeline, group);
    if (best < 0 || end > best_end || waiting < best_waiting) {
      best = group;
      best_end = end;
      best_waiting = waiting;
    }
  }
  HEADWAY_CHECK(best >= 0, "a workload has at least one rank group");
  return best;
}

TimeByCause group_breakdown(const Workload& workload, const Timeline& timeline,
                            std::int32_t group) {
  const Program& program = program_of(workload, group);
  const std::vector<JoinedCollective> joined = joined_collectives(workload, group);
  const auto ends = timeline.ends_of(group);
  const auto messages = timeline.messages_of(group);
  TimeByCause time;
  double begin = 0.0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Operation& operation = program.operations[i];
    const double end = ends[i];
    switch (operation.kind) {
      case OperationKind::compute:
        charge_block(time, at(program.blocks, operation.block).time, end - begin);
        break;
      case OperationKind::send:
        time[Cause::pipeline_transfer] += Seconds(end - begin);
        break;
      case OperationKind::receive: {
        const double sent = std::clamp(at(messages, operation.slot).sent, begin, end);
        time[Cause::pipeline_bubble] += Seconds(sent - begin);
        time[Cause::pipeline_transfer] += Seconds(end - sent);
        break;
      }
      case OperationKind::join:
        break;
      case OperationKind::wait: {
        const JoinedCollective& collective = at(joined, operation.slot);
        const Timeline::Collective& record =
            at(at(timeline.collectives, collective.communicator), collective.instance);
        const double all_there = std::clamp(record.last_join, begin, end);
        time[Cause::straggler_wait] += Seconds(all_there - begin);
        time[Cause::data_parallel_exposed] += Seconds(end - all_there);
        break;
      }
    }
    begin = end;
  }
  // Until the last group is done the step is not over for anybody.
  time[Cause::straggler_wait] += Seconds(timeline.finish - begin);
  return time;
}

}  // namespace headway
