#include "sim/engine/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {

Executor::Executor(const Workload& workload, const Perturbation& perturbation, Recorded recorded,
                   const std::vector<bool>& slowest)
    : workload_(workload),
      perturbation_(perturbation),
      recorded_(recorded),
      draws_(perturbation_),
      period_draws_(perturbation_, draws_, workload),
      servers_(
          workload, timeline_,
          {.carry =
               [this](std::int32_t plan, double bytes, std::int32_t message, double sent,
                      double now) {
                 start_transfer({.plan = plan, .amount = bytes, .served = message}, sent, now);
               },
           .wake = [this](
                       double when,
                       std::int32_t server) { queue_.push(when, EventKind::server_done, server); },
           .answered = [this](std::int32_t group, std::int32_t slot,
                              double now) { run_if_at(group, OperationKind::pull, slot, now); }}) {
  blocks_change_ = !perturbation_.micro_batches.none() || !perturbation_.slow_episodes.empty() ||
                   !perturbation_.pauses.empty();
  set_up_programs();
  set_up_timeline();
  set_up_collectives();
  std::size_t ranks = 0;
  std::int32_t replicas = 0;
  for (const RankGroup& group : workload.groups) {
    ranks += group.accelerators.size();
    replicas = std::max(replicas, group.replica + 1);
  }
  devices_.reserve(ranks);  // groups point to theirs
  groups_.resize(workload.groups.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) set_up(i);
  if (!workload.servers.empty()) {
    servers_.use_up_lead(slowest.empty() ? slowest_groups() : slowest);
  }
  unfinished_groups_ = static_cast<std::int32_t>(groups_.size());
  replica_finish_.assign(static_cast<std::size_t>(replicas), 0.0);
}

/// What groups run, and what their transfers take.
void Executor::set_up_programs() {
  for (const Program& program : workload_.programs) {
    std::vector<BlockTime>& times = block_times_.emplace_back();
    for (const Block& block : program.blocks) {
      times.push_back({block.time.total().count(), block.time.of_device().count(),
                       perturbation_.repair.covers_block(block.name)});
    }
  }
  for (const Program& program : workload_.programs) {
    programs_.push_back({.operations = program.operations.data(),
                         .blocks = at(block_times_, std::ssize(programs_)).data(),
                         .end = static_cast<std::int32_t>(program.operations.size())});
  }
  plans_.reserve(workload_.plans.size());
  for (const FlowPlan& plan : workload_.plans) {
    plans_.push_back({.latency = plan.latency,
                      .rate_cap = plan.rate_cap,
                      .crosses_links = !plan.links.empty() || !plan.ports.empty()});
  }
}

/// Room for all that will be recorded.
void Executor::set_up_timeline() {
  timeline_.first_operation.assign(1, 0);
  timeline_.first_message.assign(1, 0);
  for (const RankGroup& group : workload_.groups) {
    const Program& program = at(workload_.programs, group.program);
    timeline_.first_operation.push_back(timeline_.first_operation.back() +
                                        std::ssize(program.operations));
    timeline_.first_message.push_back(timeline_.first_message.back() + program.message_slots);
  }
  if (recorded_ == Recorded::timeline) {
    timeline_.operation_end.assign(static_cast<std::size_t>(timeline_.first_operation.back()), 0.0);
    timeline_.plan_bytes.assign(workload_.plans.size(), 0.0);
  }
  timeline_.messages.resize(static_cast<std::size_t>(timeline_.first_message.back()));
}

/// The state of a group before anything runs.
void Executor::set_up(std::size_t index) {
  const RankGroup& group = workload_.groups[index];
  GroupState& state = groups_[index];
  state.program = &at(programs_, group.program);
  if (recorded_ == Recorded::timeline) {
    state.operation_end = timeline_.operation_end.data() + timeline_.first_operation[index];
  }
  state.messages = timeline_.messages.data() + timeline_.first_message[index];
  state.paths = group.paths.data();
  const BlockDraws::Devices devices = draws_.devices(group.accelerators);
  state.devices = devices_.data() + devices_.size();
  state.device_count = static_cast<std::int32_t>(devices.drawn.size());
  state.undrawn_factor = devices.undrawn_factor;
  devices_.insert(devices_.end(), devices.drawn.begin(), devices.drawn.end());
  state.joins = joins_.data() + joins_.size();
  for (std::int32_t path = 0; path < state.program->paths; ++path) {
    joins_.push_back({at(group.communicators, path), 0});
  }
  const Program& program = at(workload_.programs, group.program);
  joins_.resize(joins_.size() + static_cast<std::size_t>(program.collective_slots));
}

/// Those with the largest time factor that holds for good. All where none is slower.
std::vector<bool> Executor::slowest_groups() const {
  std::vector<double> factors;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const GroupState& state = groups_[i];
    double factor = state.undrawn_factor;
    if (state.device_count > 0) factor = std::max(factor, state.devices->time_factor);
    factors.push_back(factor);
  }
  const double slowest = std::ranges::max(factors);
  std::vector<bool> are_slowest;
  for (const double factor : factors) are_slowest.push_back(factor == slowest);
  return are_slowest;
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
  while (!queue_.empty() && !is_over_ && queue_.next_time() <= now) {
    handle_moment(queue_.next_time());
  }
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
    if (queue_.next_is_alone(end)) {  // as most are where speeds are drawn
      ++timeline_.counts.events;
      handle(queue_.take(), time);
      continue;
    }
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
  while (!state.is_through()) {
    if (!execute(group, state.operation(), now)) return;
    finish_operation(group, now);
  }
  --unfinished_groups_;
  const std::int64_t through = std::ssize(groups_) - unfinished_groups_;
  if (workload_.ends_with > 0 && through == workload_.ends_with) end_run(now);
  double& of_replica = at(replica_finish_, at(workload_.groups, group).replica);
  of_replica = std::max(of_replica, now);
}

void Executor::finish_operation(std::int32_t group, double now) {
  GroupState& state = at(groups_, group);
  if (state.operation_end != nullptr) state.operation_end[state.counter] = now;
  ++state.counter;
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
      const CollectiveNumber number = state.joined(operation.slot);
      HEADWAY_CHECK(number.communicator >= 0,
                    fmt::format("group {} ({}) waits for collective slot {}, which it never joined",
                                group, program_of(group).name, operation.slot));
      CollectiveState& awaited = collective(number);
      if (!awaited.done) awaited.waiting.push_back(group);
      return awaited.done;
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

/// The time factor of the block that a group is at.
double Executor::device_factor(std::int32_t group) {
  const GroupState& state = at(groups_, group);
  const std::span<const BlockDraws::Device> drawn(state.devices,
                                                  static_cast<std::size_t>(state.device_count));
  const auto operation = static_cast<std::uint32_t>(state.counter);
  return period_draws_.any() ? period_draws_.factor(group, drawn, state.undrawn_factor, operation)
                             : draws_.factor(drawn, state.undrawn_factor, operation);
}

/// When a block will be done that begins now.
double Executor::block_done(std::int32_t group, const Operation& operation, double now) {
  const GroupState& state = at(groups_, group);
  const BlockTime& block = state.program->blocks[operation.block];
  const double factor = block.is_repaired ? perturbation_.repair.time_factor : device_factor(group);
  if (!blocks_change_) return now + (block.seconds + (factor - 1.0) * block.device);
  const RankGroup& ranks = at(workload_.groups, group);
  const double share =
      period_draws_.any() ? period_draws_.micro_batch_factor(group, operation.micro_batch)
                          : micro_batch_factor(perturbation_, ranks.replica, operation.micro_batch);
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
  if (recorded_ == Recorded::timeline) {
    Timeline::Message& message = at(groups_, receiver).messages[operation.slot];
    HEADWAY_CHECK(
        std::isnan(message.sent),
        fmt::format("group {} ({}) sends a second message to slot {} of group {} ({})", group,
                    program_of(group).name, operation.slot, receiver, program_of(receiver).name));
    message.sent = now;
  }
  start_transfer({.plan = at(groups_, group).paths[operation.path],
                  .amount = operation.amount.count(),
                  .receiver = receiver,
                  .slot = operation.slot,
                  .sender = operation.blocking ? group : kNobody},
                 now);
}

void Executor::start_transfer(const Transfer& transfer, double now) {
  start_transfer(transfer, now, now);
}

void Executor::start_transfer(const Transfer& transfer, double sent, double now) {
  std::int32_t token = static_cast<std::int32_t>(transfers_.size());
  if (free_tokens_.empty()) {
    transfers_.push_back(transfer);
  } else {
    token = free_tokens_.back();
    free_tokens_.pop_back();
    at(transfers_, token) = transfer;
  }
  if (recorded_ == Recorded::timeline && !is_over_) {
    at(timeline_.plan_bytes, transfer.plan) += transfer.amount;
  }
  const PlanState& plan = at(plans_, transfer.plan);
  const double begin = std::max(now, sent + plan.latency.count());
  if (!plan.crosses_links || transfer.amount <= 0.0) {
    const double time = std::max(transfer.amount / plan.rate_cap.count(), transfer.at_least);
    queue_.push(begin + time, EventKind::flow_done, token);
    return;
  }
  ++timeline_.counts.flows;
  const bool is_started =
      incremental_ != nullptr && incremental_->start_ahead(transfer.plan, Bytes(transfer.amount),
                                                           cap_of(transfer), token, begin);
  if (!is_started) queue_.push(begin, EventKind::latency_over, token);
}

BytesPerSecond Executor::cap_of(const Transfer& transfer) const {
  const BytesPerSecond cap = at(plans_, transfer.plan).rate_cap;
  if (transfer.at_least == 0.0) return cap;
  return min(cap, Bytes(transfer.amount) / Seconds(transfer.at_least));
}

void Executor::begin_flow(std::int32_t token, double now) {
  const Transfer& transfer = at(transfers_, token);
  network_->start(transfer.plan, Bytes(transfer.amount), cap_of(transfer), token, now);
}

void Executor::flow_finished(std::int32_t token, double now) {
  if (is_over_) return;  // Comms that are under way then go on to their end
  const Transfer transfer = at(transfers_, token);
  free_tokens_.push_back(token);
  if (transfer.served >= 0) {
    servers_.arrived(transfer.served, now);
    return;
  }
  if (transfer.receiver == kNobody) {
    finish_collective({transfer.communicator, transfer.slot}, now);
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
  if (state.is_through()) return;
  const Operation& operation = state.operation();
  if (operation.kind == kind && operation.slot == slot) run(group, now);
}

}  // namespace headway
