#include "sim/result/spans.h"

#include <algorithm>
#include <cmath>

namespace headway {

std::vector<Span> group_spans(const Workload& workload, const Timeline& timeline,
                              std::int32_t group) {
  const Program& program = program_of(workload, group);
  const std::vector<JoinedCollective> joined = joined_collectives(workload, group);
  const auto ends = timeline.ends_of(group);
  const auto messages = timeline.messages_of(group);
  std::vector<Span> spans;
  spans.reserve(ends.size() + 1);
  double begin = 0.0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Operation& operation = program.operations[i];
    Span span{.begin = begin, .started = begin, .end = ends[i]};
    switch (operation.kind) {
      case OperationKind::compute:
        break;
      case OperationKind::send:
        span.of = SpanOf::own_send;
        break;
      case OperationKind::receive:
        span.of = SpanOf::message;
        span.started = at(messages, operation.slot).sent;
        break;
      case OperationKind::join:
        span.of = SpanOf::join;
        break;
      case OperationKind::wait:
        span.of = SpanOf::collective;
        span.collective = at(joined, operation.slot);
        span.started = record_of(timeline, span.collective).last_join;
        break;
      case OperationKind::pull: {
        span.of = SpanOf::answer;
        const double sent = at(messages, operation.slot).sent;
        span.started = std::isnan(sent) ? span.end : sent;  // the run may end before it
        break;
      }
      case OperationKind::push:
      case OperationKind::advance:
        span.of = SpanOf::push;
        break;
    }
    spans.push_back(span);
    begin = span.end;
  }
  spans.push_back({.of = SpanOf::end_of_run,
                   .begin = begin,
                   .started = timeline.finish,
                   .end = timeline.finish});
  return spans;
}

double waiting_time(const Workload& workload, const Timeline& timeline, std::int32_t group) {
  const Program& program = program_of(workload, group);
  const auto ends = timeline.ends_of(group);
  const bool exchanges =
      std::ranges::any_of(at(workload.groups, group).communicators, [&](std::int32_t communicator) {
        return communicator >= 0 && is_exchange(at(workload.communicators, communicator));
      });
  std::vector<JoinedCollective> joined;
  if (exchanges) joined = joined_collectives(workload, group);
  double waiting = 0.0;
  double begin = 0.0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Operation& operation = program.operations[i];
    double end = ends[i];
    if (exchanges && operation.kind == OperationKind::wait) {
      const JoinedCollective& collective = at(joined, operation.slot);
      if (is_exchange(at(workload.communicators, collective.communicator))) {
        end = std::clamp(record_of(timeline, collective).last_join, begin, end);
      }
    }
    if (operation.kind != OperationKind::compute) waiting += end - begin;
    begin = ends[i];
  }
  return waiting;
}

}  // namespace headway
