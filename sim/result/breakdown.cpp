#include "sim/result/breakdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/result/spans.h"

namespace headway {
namespace {

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

std::int32_t busiest_group(const Workload& workload, std::int32_t of_replica_of) {
  const std::int32_t replica = at(workload.groups, of_replica_of).replica;
  std::int32_t busiest = -1;
  Seconds most;
  for (std::int32_t group = 0; group < std::ssize(workload.groups); ++group) {
    if (at(workload.groups, group).replica != replica) continue;
    const Seconds work = program_of(workload, group).nominal_work();
    if (busiest >= 0 && work <= most) continue;
    busiest = group;
    most = work;
  }
  return busiest;
}

void settle_waiting(TimeByCause& time, Seconds nominal) {
  const Seconds lost = time[Cause::pipeline_bubble] + time[Cause::straggler_wait];
  time[Cause::pipeline_bubble] = std::clamp(nominal, Seconds(), max(lost, Seconds()));
  time[Cause::straggler_wait] = lost - time[Cause::pipeline_bubble];
}

namespace {

/// Of the spans from `first` to before `end`.
TimeByCause charged(const Workload& workload, const Program& program,
                    const std::vector<Span>& spans, std::int64_t first, std::int64_t end) {
  TimeByCause time;
  const auto charge = [&](const Span& span, Cause waiting, Cause moving) {
    const double under_way = span.under_way();
    time[waiting] += Seconds(under_way - span.begin);
    time[moving] += Seconds(span.end - under_way);
  };
  for (std::int64_t i = first; i < end; ++i) {
    const Span& span = at(spans, i);
    switch (span.of) {
      case SpanOf::block:
        charge_block(time, at(program.blocks, at(program.operations, i).block).time,
                     span.end - span.begin);
        break;
      case SpanOf::own_send:
      case SpanOf::message:
        charge(span, Cause::pipeline_bubble, Cause::pipeline_transfer);
        break;
      case SpanOf::join:
      case SpanOf::push:
        break;
      case SpanOf::answer:
        charge(span, Cause::server_wait, Cause::data_parallel_exposed);
        break;
      case SpanOf::collective:
        charge(span, Cause::straggler_wait,
               at(workload.communicators, span.collective.communicator).cause);
        break;
      case SpanOf::end_of_run:  // until the last group is done the step is not over for anybody
        time[Cause::straggler_wait] += Seconds(span.end - span.begin);
        break;
    }
  }
  return time;
}

}  // namespace

TimeByCause group_breakdown(const Workload& workload, const Timeline& timeline,
                            std::int32_t group) {
  const std::vector<Span> spans = group_spans(workload, timeline, group);
  return charged(workload, program_of(workload, group), spans, 0, std::ssize(spans));
}

TimeByCause breakdown_between(const Workload& workload, const Timeline& timeline,
                              std::int32_t group, std::int64_t first, std::int64_t end) {
  return charged(workload, program_of(workload, group), group_spans(workload, timeline, group),
                 first, end);
}

}  // namespace headway
