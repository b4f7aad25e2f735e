#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/result/breakdown.h"
#include "sim/result/workload_index.h"

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

  [[nodiscard]] double begin_of(std::int32_t operation) const {
    return operation == 0 ? 0.0 : at(timeline_.ends_of(group_), operation - 1);
  }

  /// Adds what the operation adds to the path and returns the operation before it, maybe of another
  /// group.
  std::int32_t step_back(std::int32_t index) {
    const Operation& operation = at(program_of(workload_, group_).operations, index);
    const double begin = begin_of(index);
    const double end = at(timeline_.ends_of(group_), index);
    switch (operation.kind) {
      case OperationKind::compute:
        add(at(program_of(workload_, group_).blocks, operation.block).name, begin, end);
        return index - 1;
      case OperationKind::send:
        add("send", begin, end);
        return index - 1;
      case OperationKind::join:
        return index - 1;
      case OperationKind::receive: {
        if (end <= begin) return index - 1;  // it was there before
        const Timeline::Message& message = at(timeline_.messages_of(group_), operation.slot);
        const Senders::Origin origin = senders_.of(group_, operation.slot);
        add(fmt::format("transfer from stage {}", at(workload_.groups, origin.group).stage),
            message.sent, end);
        group_ = origin.group;
        return origin.operation - 1;  // a send starts when the operation before it ends
      }
      case OperationKind::wait: {
        if (end <= begin) return index - 1;
        const JoinedCollective joined = at(joined_collectives(workload_, group_), operation.slot);
        const auto& records = at(timeline_.collectives, joined.communicator);
        // Back through collectives that started as soon as the one before was done.
        std::int32_t instance = joined.instance;
        while (instance > 0 && at(records, instance - 1).end >= at(records, instance).last_join) {
          --instance;
        }
        const Timeline::Collective& record = at(records, instance);
        add(at(workload_.communicators, joined.communicator).name, record.last_join, end);
        group_ = record.last_group;
        return record.last_operation - 1;
      }
    }
    return index - 1;
  }

  const Workload& workload_;
  const Timeline& timeline_;
  Senders senders_;
  std::int32_t group_ = -1;
  std::vector<CriticalSegment> path_;
};

}  // namespace

std::vector<CriticalSegment> critical_path(const Workload& workload, const Timeline& timeline) {
  return PathWalk(workload, timeline).walked();
}

}  // namespace headway
