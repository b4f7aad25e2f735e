#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/engine/executor.h"
#include "sim/engine/fetch_of_groups.h"

namespace headway {

/// Room for every collective, and for what groups know of theirs.
void Executor::set_up_collectives() {
  std::vector<std::vector<std::int32_t>> joins;  // by program and path
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    std::vector<std::int32_t>& of_program = joins.emplace_back();
    for (const Operation& operation : workload_.programs[i].operations) {
      if (operation.kind != OperationKind::join) continue;
      const std::size_t paths = static_cast<std::size_t>(operation.path) + 1;
      if (of_program.size() < paths) of_program.resize(paths, 0);
      ++at(of_program, operation.path);
    }
    programs_[i].paths = static_cast<std::int32_t>(of_program.size());
  }
  std::size_t known = 0;
  std::vector<std::int32_t> most(workload_.communicators.size(), 0);  // collectives of each
  for (const RankGroup& group : workload_.groups) {
    const std::vector<std::int32_t>& of_program = at(joins, group.program);
    const Program& program = at(workload_.programs, group.program);
    known += of_program.size() + static_cast<std::size_t>(program.collective_slots);
    for (std::size_t path = 0; path < of_program.size(); ++path) {
      std::int32_t& of_communicator = at(most, group.communicators[path]);
      of_communicator = std::max(of_communicator, of_program[path]);
    }
  }
  joins_.reserve(known);  // groups point to theirs
  std::int64_t all = 0;
  timeline_.collectives.resize(most.size());
  for (std::size_t i = 0; i < most.size(); ++i) {
    timeline_.collectives[i].reserve(static_cast<std::size_t>(most[i]));
    first_collective_.push_back(all);
    all += most[i];
  }
  collectives_.resize(static_cast<std::size_t>(all));
  queues_.resize(most.size());
}

void Executor::join(std::int32_t group, const Operation& operation, double now) {
  const GroupState& state = at(groups_, group);
  const CollectiveNumber number = state.joins[operation.path];
  ++state.joins[operation.path].instance;
  state.joined(operation.slot) = number;

  std::vector<Timeline::Collective>& records = at(timeline_.collectives, number.communicator);
  if (number.instance == std::ssize(records)) {
    records.push_back({.first_join = now, .amount = operation.amount.count()});
  }
  Timeline::Collective& record = at(records, number.instance);
  HEADWAY_CHECK(
      record.amount == operation.amount.count(),
      fmt::format("group {} ({}) joins {}, number {}, with {} bytes, others with {}", group,
                  program_of(group).name, at(workload_.communicators, number.communicator).name,
                  number.instance, operation.amount.count(), record.amount));
  record.last_join = now;
  record.last_group = group;
  record.last_operation = state.counter;
  CollectiveState& joined = collective(number);
  ++joined.joined;
  joined.way = operation.way;
  joined.at_least = std::max(joined.at_least, operation.at_least.count());
  start_collective_if_ready(number, now);
}

void Executor::start_collective_if_ready(CollectiveNumber number, double now) {
  CollectiveState& ready = collective(number);
  const Communicator& of = at(workload_.communicators, number.communicator);
  if (ready.started || ready.joined < of.members - of.backups) return;
  ready.started = true;
  if (queues_.enters(queue_of(number.communicator), number)) start_collective(number, now);
}

void Executor::start_collective(CollectiveNumber number, double now) {
  const CollectiveState& started = collective(number);
  start_transfer(
      {.plan = at(workload_.communicators, number.communicator).plan + started.way,
       .amount = at(at(timeline_.collectives, number.communicator), number.instance).amount,
       .at_least = started.at_least,
       .slot = number.instance,
       .communicator = number.communicator},
      now);
}

void Executor::finish_collective(CollectiveNumber number, double now) {
  CollectiveState& finished = collective(number);
  finished.done = true;
  at(at(timeline_.collectives, number.communicator), number.instance).end = now;
  const auto next = queues_.leaves(queue_of(number.communicator));
  if (next) start_collective(*next, now);
  const std::vector<std::int32_t> waiting = std::move(finished.waiting);
  for (const std::int32_t group : waiting) fetch_what_follows(group);
  for (const std::int32_t group : waiting) fetch_plan_of_send(group);
  for (const std::int32_t group : waiting) fetch_links_of_send(group);
  for (const std::int32_t group : waiting) run(group, now);
}

}  // namespace headway
