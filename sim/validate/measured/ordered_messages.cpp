#include "sim/validate/measured/ordered_messages.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim/validate/measured/link_credit.h"

namespace headway {
namespace {

/// The two programs of one rank group: what computes, and what sends beside it.
struct SplitProgram {
  Program compute;
  Program sender;
};

/// When the message after each one will be ready at the earliest, by operation: what is computed
/// in between; and if other messages are waited for meanwhile, no sooner than one of them takes.
std::vector<Seconds> intervals_after_sends(const Program& program, const MessageLink& link,
                                           double time_factor) {
  struct Since {
    std::size_t send = 0;
    Seconds compute;
    bool received = false;
  };
  std::vector<Seconds> intervals(program.operations.size());
  std::map<std::int32_t, Since> by_path;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    if (operation.kind == OperationKind::compute) {
      const TimeByCause& time = program.blocks[static_cast<std::size_t>(operation.block)].time;
      for (auto& [path, since] : by_path) {
        since.compute += time.total() + (time_factor - 1.0) * time.of_device();
      }
    } else if (operation.kind == OperationKind::receive) {
      for (auto& [path, since] : by_path) since.received = true;
    } else if (operation.kind == OperationKind::send) {
      const auto [since, is_first] = by_path.try_emplace(operation.path);
      if (!is_first) {
        Seconds& interval = intervals[since->second.send];
        interval = since->second.compute;
        if (since->second.received) interval = max(interval, operation.amount / link.rate);
      }
      since->second = {.send = i};
    }
  }
  return intervals;
}

/// `groups` in all, each sender that many after its group; it is told by `path_to_sender`.
SplitProgram split(const Program& program, const MessageLink& link, double time_factor, int groups,
                   std::int32_t path_to_sender) {
  SplitProgram parts{.compute = program, .sender = {.name = "sender, " + program.name}};
  const std::vector<Seconds> intervals = intervals_after_sends(program, link, time_factor);
  std::map<std::int32_t, LinkCredit> credit_of_path;
  std::int32_t sent = 0;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    Operation& operation = parts.compute.operations[i];
    if (operation.kind != OperationKind::send) continue;
    LinkCredit& credit =
        credit_of_path.try_emplace(operation.path, link.burst, link.rate).first->second;
    Operation message = operation;
    message.blocking = true;
    message.peer -= groups;
    message.amount = credit.carried(operation.amount, intervals[i]);
    Operation told{.kind = OperationKind::receive, .slot = sent};
    told.micro_batch = message.micro_batch;
    told.chunk = message.chunk;
    parts.sender.operations.push_back(told);
    parts.sender.operations.push_back(message);
    operation.blocking = false;
    operation.peer = groups;
    operation.path = path_to_sender;
    operation.slot = sent++;
    operation.amount = Bytes(0.0);
  }
  parts.sender.message_slots = sent;
  return parts;
}

}  // namespace

void order_messages(Workload& workload, const MessageLink& link, const Perturbation& perturbation) {
  const auto groups = static_cast<int>(workload.groups.size());
  workload.plans.emplace_back();  // what a rank tells its own sender passes no link
  const auto to_sender = static_cast<std::int32_t>(workload.plans.size()) - 1;
  const std::vector<Program> programs = std::exchange(workload.programs, {});
  std::vector<Program> senders;
  std::vector<RankGroup> sending;
  for (int index = 0; index < groups; ++index) {
    RankGroup& group = workload.groups[static_cast<std::size_t>(index)];
    const std::vector<double> factors = device_time_factors(perturbation, group.accelerators);
    const auto path = static_cast<std::int32_t>(group.paths.size());
    SplitProgram parts = split(programs[static_cast<std::size_t>(group.program)], link,
                               *std::max_element(factors.begin(), factors.end()), groups, path);
    workload.programs.push_back(std::move(parts.compute));
    senders.push_back(std::move(parts.sender));
    RankGroup sender = group;
    sender.program = groups + index;
    sender.communicators.clear();
    sending.push_back(std::move(sender));
    group.program = index;
    group.paths.push_back(to_sender);
  }
  for (Program& sender : senders) workload.programs.push_back(std::move(sender));
  for (RankGroup& sender : sending) workload.groups.push_back(std::move(sender));
}

}  // namespace headway
