#include "sim/engine/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/signed_index.h"

namespace headway {

Executor::Executor(const Workload& workload, const Perturbation& perturbation)
    : workload_(workload),
      perturbation_(perturbation),
      draws_(perturbation_),
      servers_(
          workload, timeline_,
          {.carry =
               [this](std::int32_t plan, double bytes, std::int32_t message, double now) {
                 start_transfer({.plan = plan, .amount = bytes, .served = message}, now);
               },
           .wake = [this](
                       double when,
                       std::int32_t server) { queue_.push(when, EventKind::server_done, server); },
           .answered = [this](std::int32_t group, std::int32_t slot,
                              double now) { run_if_at(group, OperationKind::pull, slot, now); }}) {
  for (const Program& program : workload.programs) {
    std::vector<BlockTime>& times = block_times_.emplace_back();
    for (const Block& block : program.blocks) {
      times.push_back({block.time.total().count(), block.time.of_device().count(),
                       perturbation.repair.covers_block(block.name)});
    }
  }
  blocks_change_ = !perturbation_.micro_batches.none() || !perturbation_.slow_episodes.empty() ||
                   !perturbation_.pauses.empty();
  const std::size_t count = workload.groups.size();
  groups_.resize(count);
  joins_.resize(count);
  timeline_.first_operation.assign(1, 0);
  timeline_.first_message.assign(1, 0);
  for (const RankGroup& group : workload.groups) {
    const Program& program = at(workload.programs, group.program);
    timeline_.first_operation.push_back(timeline_.first_operation.back() +
                                        std::ssize(program.operations));
    timeline_.first_message.push_back(timeline_.first_message.back() + program.message_slots);
  }
  timeline_.operation_end.assign(static_cast<std::size_t>(timeline_.first_operation.back()), 0.0);
  timeline_.messages.resize(static_cast<std::size_t>(timeline_.first_message.back()));
  std::size_t ranks = 0;
  for (const RankGroup& group : workload.groups) ranks += group.accelerators.size();
  devices_.reserve(ranks);  // groups point to theirs
  for (std::size_t i = 0; i < count; ++i) set_up(i);
  timeline_.collectives.resize(workload.communicators.size());
  timeline_.plan_bytes.assign(workload.plans.size(), 0.0);
  collectives_.resize(workload.communicators.size());
  queues_.resize(workload.communicators.size());
  unfinished_groups_ = static_cast<std::int32_t>(count);
  std::int32_t replicas = 0;
  for (const RankGroup& group : workload.groups) replicas = std::max(replicas, group.replica + 1);
  replica_finish_.assign(static_cast<std::size_t>(replicas), 0.0);
}

/// The state of a group before anything runs.
void Executor::set_up(std::size_t index) {
  const RankGroup& group = workload_.groups[index];
  const Program& program = at(workload_.programs, group.program);
  GroupState& state = groups_[index];
  state.end = static_cast<std::int32_t>(program.operations.size());
  state.operations = program.operations.data();
  state.blocks = at(block_times_, group.program).data();
  state.operation_end = timeline_.operation_end.data() + timeline_.first_operation[index];
  state.messages = timeline_.messages.data() + timeline_.first_message[index];
  state.paths = group.paths.data();
  const std::vector<BlockDraws::Device> devices = draws_.devices(group.accelerators);
  state.devices = devices_.data() + devices_.size();
  state.device_count = static_cast<std::int32_t>(devices.size());
  devices_.insert(devices_.end(), devices.begin(), devices.end());
  GroupJoins& joins = joins_[index];
  joins.joins.assign(group.communicators.size(), 0);
  joins.instance_of_slot.assign(static_cast<std::size_t>(program.collective_slots), -1);
  joins.communicator_of_slot = joins.instance_of_slot;
}

void Executor::use_incremental(IncrementalFlows& flows) {
  network_ = &flows;
  incremental_ = &flows;
}

const Program& Executor::program_of(std::int32_t group) const {
  return at(workload_.programs, at(workload_.groups, group).program);
}

void Executor::start() {
  for (std::int32_t group = 0; group < std::ssize(groups_); ++group) run(group, 0.0);
  network_->settle(0.0);
}

void Executor::advance_to(double now) {
  while (!queue_.empty() && queue_.next_time() <= now) handle_moment(queue_.next_time());
}

double Executor::advance_moments(int count) {
  double last = -1.0;
  while (count-- > 0 && !queue_.empty() && !is_over_) {
    last = queue_.next_time();
    handle_moment(last);
  }
  return last;
}

/// Everything of one moment first, all at its beginning, so that the network shares out its links
/// once and those in step stay in step.
void Executor::handle_moment(double time) {
  if (queue_.turn() != looked_ahead_) look_ahead();
  const double end = EventQueue::end_of_moment(time);
  while (!queue_.empty() && queue_.next_time() <= end) {
    moment_.clear();
    queue_.take_until(end, moment_);
    timeline_.counts.events += std::ssize(moment_);
    for (const Event& event : moment_) handle(event, time);
  }
  network_->settle(time);
}

void Executor::handle(const Event& event, double now) {
  switch (event.kind) {
    case EventKind::block_done:
      finish_operation(event.id, now);
      run(event.id, now);
      break;
    case EventKind::latency_over:
      begin_flow(event.id, now);
      break;
    case EventKind::flow_done:
      if (event.version == 0) {
        flow_finished(event.id, now);  // a transfer that no link limits
      } else {
        incremental_->handle(event, now);
      }
      break;
    case EventKind::server_done:
      servers_.done(event.id, now);
      break;
    case EventKind::link_change:
      incremental_->change_links(event.time);  // an episode may begin then and not before
      break;
    case EventKind::background:
      incremental_->change_background(event.id, now);
      break;
  }
}

/// Runs a group until it has to wait.
void Executor::run(std::int32_t group, double now) {
  GroupState& state = at(groups_, group);
  while (state.counter < state.end) {
    if (!execute(group, state.operations[state.counter], now)) return;
    finish_operation(group, now);
  }
  --unfinished_groups_;
  const std::int64_t through = std::ssize(groups_) - unfinished_groups_;
  if (workload_.ends_with > 0 && through == workload_.ends_with) {
    is_over_ = true;
    timeline_.finish = now;
  }
  double& of_replica = at(replica_finish_, at(workload_.groups, group).replica);
  of_replica = std::max(of_replica, now);
}

void Executor::finish_operation(std::int32_t group, double now) {
  GroupState& state = at(groups_, group);
  state.operation_end[state.counter++] = now;
}

/// Does one operation. Returns false if the group has to wait before it is over.
bool Executor::execute(std::int32_t group, const Operation& operation, double now) {
  GroupState& state = at(groups_, group);
  switch (operation.kind) {
    case OperationKind::compute:
      queue_.push(block_done(group, operation, now), EventKind::block_done, group);
      return false;
    case OperationKind::send:
      send(group, operation, now);
      return !operation.blocking;
    case OperationKind::receive:
      return !std::isnan(state.messages[operation.slot].arrived);
    case OperationKind::join:
      join(group, operation, now);
      return true;
    case OperationKind::wait: {
      const GroupJoins& joins = at(joins_, group);
      const std::int32_t communicator = at(joins.communicator_of_slot, operation.slot);
      HEADWAY_CHECK(communicator >= 0,
                    fmt::format("group {} ({}) waits for collective slot {}, which it never joined",
                                group, program_of(group).name, operation.slot));
      CollectiveState& collective =
          at(at(collectives_, communicator), at(joins.instance_of_slot, operation.slot));
      if (!collective.done) collective.waiting.push_back(group);
      return collective.done;
    }
    case OperationKind::push:
      servers_.push(group, operation, now);
      return true;
    case OperationKind::pull:
      return servers_.is_answered(group, operation.slot);
    case OperationKind::advance:
      skip_to_round(group, servers_.next_round(group), now);
      return true;
  }
  HEADWAY_CHECK(false, "unknown kind of operation");
}

/// When a block will be done that begins now.
double Executor::block_done(std::int32_t group, const Operation& operation, double now) {
  const GroupState& state = at(groups_, group);
  const BlockTime& block = state.blocks[operation.block];
  const double factor =
      block.is_repaired
          ? perturbation_.repair.time_factor
          : draws_.factor({state.devices, static_cast<std::size_t>(state.device_count)},
                          static_cast<std::uint32_t>(state.counter));
  if (!blocks_change_) return now + (block.seconds + (factor - 1.0) * block.device);
  const RankGroup& ranks = at(workload_.groups, group);
  const double share = micro_batch_factor(perturbation_, ranks.replica, operation.micro_batch);
  const double work = block.seconds + (factor * share - 1.0) * block.device;
  if (block.is_repaired) return now + work;
  const double of_device = work > 0.0 ? factor * share * block.device / work : 0.0;
  return block_end(perturbation_, ranks.accelerators, now, work, of_device);
}

/// Ends all that stands before the round's first operation but for the last, which ends by itself.
void Executor::skip_to_round(std::int32_t group, std::int32_t round, double now) {
  const Program& program = program_of(group);
  const bool is_last = round >= std::ssize(program.rounds);
  const std::int64_t first =
      is_last ? std::ssize(program.operations) : std::int64_t{at(program.rounds, round)};
  while (at(groups_, group).counter + 1 < first) finish_operation(group, now);
}

void Executor::send(std::int32_t group, const Operation& operation, double now) {
  const std::int32_t receiver = group + operation.peer;
  Timeline::Message& message = at(groups_, receiver).messages[operation.slot];
  HEADWAY_CHECK(
      std::isnan(message.sent),
      fmt::format("group {} ({}) sends a second message to slot {} of group {} ({})", group,
                  program_of(group).name, operation.slot, receiver, program_of(receiver).name));
  message.sent = now;
  start_transfer({.plan = at(groups_, group).paths[operation.path],
                  .amount = operation.amount.count(),
                  .receiver = receiver,
                  .slot = operation.slot,
                  .sender = operation.blocking ? group : kNobody},
                 now);
}

void Executor::join(std::int32_t group, const Operation& operation, double now) {
  GroupJoins& joins = at(joins_, group);
  const std::int32_t communicator = at(at(workload_.groups, group).communicators, operation.path);
  const std::int32_t instance = at(joins.joins, operation.path)++;
  at(joins.instance_of_slot, operation.slot) = instance;
  at(joins.communicator_of_slot, operation.slot) = communicator;

  std::vector<CollectiveState>& instances = at(collectives_, communicator);
  std::vector<Timeline::Collective>& records = at(timeline_.collectives, communicator);
  if (instance == std::ssize(instances)) {
    instances.emplace_back();
    records.push_back({.first_join = now, .amount = operation.amount.count()});
  }
  Timeline::Collective& record = at(records, instance);
  HEADWAY_CHECK(
      record.amount == operation.amount.count(),
      fmt::format("group {} ({}) joins {}, number {}, with {} bytes, others with {}", group,
                  program_of(group).name, at(workload_.communicators, communicator).name, instance,
                  operation.amount.count(), record.amount));
  record.last_join = now;
  record.last_group = group;
  record.last_operation = at(groups_, group).counter;
  ++at(instances, instance).joined;
  at(instances, instance).way = operation.way;
  at(instances, instance).at_least =
      std::max(at(instances, instance).at_least, operation.at_least.count());
  start_collective_if_ready(communicator, instance, now);
}

void Executor::start_collective_if_ready(std::int32_t communicator, std::int32_t instance,
                                         double now) {
  CollectiveState& collective = at(at(collectives_, communicator), instance);
  const Communicator& of = at(workload_.communicators, communicator);
  if (collective.started || collective.joined < of.members - of.backups) return;
  collective.started = true;
  const CollectiveNumber number{communicator, instance};
  if (queues_.enters(queue_of(communicator), number)) start_collective(number, now);
}

void Executor::start_collective(CollectiveNumber number, double now) {
  const auto [communicator, instance] = number;
  const CollectiveState& collective = at(at(collectives_, communicator), instance);
  start_transfer({.plan = at(workload_.communicators, communicator).plan + collective.way,
                  .amount = at(at(timeline_.collectives, communicator), instance).amount,
                  .at_least = collective.at_least,
                  .slot = instance,
                  .communicator = communicator},
                 now);
}

void Executor::start_transfer(const Transfer& transfer, double now) {
  std::int32_t token = static_cast<std::int32_t>(transfers_.size());
  if (free_tokens_.empty()) {
    transfers_.push_back(transfer);
  } else {
    token = free_tokens_.back();
    free_tokens_.pop_back();
    at(transfers_, token) = transfer;
  }
  at(timeline_.plan_bytes, transfer.plan) += transfer.amount;
  queue_.push(now + at(workload_.plans, transfer.plan).latency.count(), EventKind::latency_over,
              token);
}

void Executor::begin_flow(std::int32_t token, double now) {
  const Transfer& transfer = at(transfers_, token);
  const FlowPlan& plan = at(workload_.plans, transfer.plan);
  if ((plan.links.empty() && plan.ports.empty()) || transfer.amount <= 0.0) {
    const double time = std::max(transfer.amount / plan.rate_cap.count(), transfer.at_least);
    queue_.push(now + time, EventKind::flow_done, token);
    return;
  }
  ++timeline_.counts.flows;
  BytesPerSecond cap = plan.rate_cap;
  if (transfer.at_least > 0.0) cap = min(cap, Bytes(transfer.amount) / Seconds(transfer.at_least));
  network_->start(transfer.plan, Bytes(transfer.amount), cap, token, now);
}

void Executor::flow_finished(std::int32_t token, double now) {
  const Transfer transfer = at(transfers_, token);
  free_tokens_.push_back(token);
  if (transfer.served >= 0) {
    servers_.arrived(transfer.served, now);
    return;
  }
  if (transfer.receiver == kNobody) {
    CollectiveState& collective = at(at(collectives_, transfer.communicator), transfer.slot);
    collective.done = true;
    at(at(timeline_.collectives, transfer.communicator), transfer.slot).end = now;
    const std::vector<std::int32_t> waiting = std::move(collective.waiting);
    const auto next = queues_.leaves(queue_of(transfer.communicator));
    if (next) start_collective(*next, now);
    for (const std::int32_t group : waiting) run(group, now);
    return;
  }
  at(groups_, transfer.receiver).messages[transfer.slot].arrived = now;
  if (transfer.sender != kNobody) {
    finish_operation(transfer.sender, now);
    run(transfer.sender, now);
  }
  run_if_at(transfer.receiver, OperationKind::receive, transfer.slot, now);
}

/// Lets a group go on that waits for that slot.
void Executor::run_if_at(std::int32_t group, OperationKind kind, std::int32_t slot, double now) {
  const GroupState& state = at(groups_, group);
  if (state.counter >= state.end) return;
  const Operation& operation = state.operations[state.counter];
  if (operation.kind == kind && operation.slot == slot) run(group, now);
}

}  // namespace headway
