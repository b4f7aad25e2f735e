#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/result/breakdown.h"
#include "sim/result/spans.h"

namespace headway {
namespace {

/// Where every message comes from: the sender's group and operation, by receiving group and slot.
class Senders {
 public:
  explicit Senders(const Workload& workload) : workload_(workload) {}

  struct Origin {
    std::int32_t group = -1;
    std::int32_t operation = -1;
  };

  /// Found by looking through the groups that can send here; a path asks for few of them.
  [[nodiscard]] Origin of(std::int32_t receiver, std::int32_t slot) const {
    for (const Program& program : workload_.programs) {
      for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const Operation& operation = program.operations[i];
        if (operation.kind != OperationKind::send || operation.slot != slot) continue;
        const std::int32_t sender = receiver - operation.peer;
        if (sender < 0 || sender >= std::ssize(workload_.groups)) continue;
        if (&program != &program_of(workload_, sender)) continue;
        if (at(workload_.groups, sender).replica != at(workload_.groups, receiver).replica)
          continue;
        return {sender, static_cast<std::int32_t>(i)};
      }
    }
    HEADWAY_CHECK(false, "a message that nobody sends was received");
  }

 private:
  const Workload& workload_;
};

class PathWalk {
 public:
  PathWalk(const Workload& workload, const Timeline& timeline)
      : workload_(workload), timeline_(timeline), senders_(workload) {}

  std::vector<CriticalSegment> walked() && {
    group_ = critical_group(workload_, timeline_);
    auto operation = static_cast<std::int32_t>(program_of(workload_, group_).operations.size()) - 1;
    while (operation >= 0) operation = step_back(operation);
    std::ranges::reverse(path_);
    return std::move(path_);
  }

 private:
  void add(std::string what, double start, double end) {
    if (end <= start) return;
    std::string where = group_name(workload_, group_);
    if (!path_.empty() && path_.back().where == where && path_.back().what == what &&
        path_.back().start == Seconds(end)) {
      path_.back().start = Seconds(start);
      ++path_.back().operations;
      return;
    }
    path_.push_back({std::move(where), std::move(what), Seconds(start), Seconds(end), 1});
  }

  [[nodiscard]] const std::vector<Span>& spans() {
    const auto [known, is_new] = spans_.try_emplace(group_);
    if (is_new) known->second = group_spans(workload_, timeline_, group_);
    return known->second;
  }

  /// Adds what the operation adds to the path and returns the operation before it, maybe of another
  /// group.
  std::int32_t step_back(std::int32_t index) {
    const Operation& operation = at(program_of(workload_, group_).operations, index);
    const Span& span = at(spans(), index);
    switch (span.of) {
      case SpanOf::block:
        add(at(program_of(workload_, group_).blocks, operation.block).name, span.begin, span.end);
        break;
      case SpanOf::own_send:
        add("send", span.begin, span.end);
        break;
      case SpanOf::message:
        if (span.end > span.begin) return to_sender(span, operation.slot);
        break;  // it was there before
      case SpanOf::collective:
        if (span.end > span.begin) return to_last_member(span);
        break;
      case SpanOf::answer:
        add("parameters from servers", span.under_way(), span.end);
        add("waits for servers", span.begin, span.under_way());
        break;
      case SpanOf::join:
      case SpanOf::push:
      case SpanOf::end_of_run:
        break;
    }
    return index - 1;
  }

  std::int32_t to_sender(const Span& span, std::int32_t slot) {
    const Senders::Origin origin = senders_.of(group_, slot);
    add(fmt::format("transfer from stage {}", at(workload_.groups, origin.group).stage),
        span.started, span.end);
    group_ = origin.group;
    return origin.operation - 1;  // a send starts when the operation before it ends
  }

  std::int32_t to_last_member(const Span& span) {
    JoinedCollective first = span.collective;
    // Back through collectives that started as soon as the one before was done.
    const auto& records = at(timeline_.collectives, first.communicator);
    while (first.instance > 0 &&
           at(records, first.instance - 1).end >= at(records, first.instance).last_join) {
      --first.instance;
    }
    const Timeline::Collective& record = at(records, first.instance);
    add(at(workload_.communicators, first.communicator).name, record.last_join, span.end);
    group_ = record.last_group;
    return record.last_operation - 1;
  }

  const Workload& workload_;
  const Timeline& timeline_;
  Senders senders_;
  std::map<std::int32_t, std::vector<Span>> spans_;  ///< of the groups that it came through
  std::int32_t group_ = -1;
  std::vector<CriticalSegment> path_;
};

}  // namespace

std::vector<CriticalSegment> critical_path(const Workload& workload, const Timeline& timeline) {
  return PathWalk(workload, timeline).walked();
}

}  // namespace headway
