#include "sim/programs/recurrence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/index.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/pipeline/pass_order.h"

namespace headway {

Recurrence::Recurrence(const Workload& workload, const Topology& topology,
                       std::span<const double> slowdowns, const std::set<std::int32_t>& replicas)
    : workload_(workload),
      topology_(topology),
      rates_(workload.plans.size()),
      present_(workload.communicators.size()),
      instances_(workload.communicators.size()),
      last_end_(workload.communicators.size()) {
  for (const RankGroup& group : workload.groups) {
    if (!replicas.contains(group.replica)) continue;
    for (const std::int32_t id : group.communicators) {
      if (id >= 0) ++at(present_, id);
    }
  }
  groups_.reserve(workload.groups.size());
  for (const RankGroup& group : workload.groups) {
    if (!replicas.contains(group.replica)) continue;
    add(group, slowdowns.empty() ? 1.0 : at(slowdowns, group.stage));
  }
  for (State& state : groups_) {
    for (Sending& sending : state.sends) {
      State& receiver = at(groups_, &state - groups_.data() + sending.peer);
      sending.receiver = receiver.messages.data();
    }
  }
  run();
}

void Recurrence::add(const RankGroup& group, double slowdown) {
  const Program& program = at(workload_.programs, group.program);
  State& state = groups_.emplace_back();
  state.group = &group;
  state.program = &program;
  block_time_.clear();
  for (const Block& block : program.blocks) {
    block_time_.push_back((block.time.total() + (slowdown - 1.0) * block.time.of_device()).count());
  }
  state.actions.reserve(program.operations.size());
  for (const Operation& operation : program.operations) {
    resolve(group, operation, state.actions.emplace_back());
  }
  if (program.passes) {
    state.lengths = lengths_of(*program.passes, state.actions);
    state.sends.reserve(program.passes->messages.size());
    for (std::size_t i = 0; i < program.passes->messages.size(); ++i) {
      const PassWay& way = program.passes->order->ways[i];
      Sending& sending = state.sends.emplace_back();
      if (way.path < 0) continue;
      const IdleRate& rate = rate_of(at(group.paths, way.path));
      sending = {.peer = way.peer,
                 .latency = rate.latency,
                 .seconds = program.passes->messages[i].count() * rate.seconds_per_byte};
    }
  }
  state.stop = program.passes ? program.passes->begin : program.operations.size();
  state.messages.resize(static_cast<std::size_t>(program.message_slots));
  state.slots.resize(static_cast<std::size_t>(program.collective_slots));
  state.joins.assign(group.communicators.size(), 0);
}

const Recurrence::IdleRate& Recurrence::rate_of(std::int64_t plan) {
  IdleRate& rate = at(rates_, plan);
  if (std::isnan(rate.seconds_per_byte)) {
    constexpr Bytes kSample(1e9);
    const FlowPlan& of = at(workload_.plans, plan);
    const Seconds transfer = idle_time(of, topology_, kSample) - of.latency;
    rate = {of.latency.count(), transfer.count() / kSample.count(), of.crosses_fabric};
    if (of.crosses_fabric) {
      const BytesPerSecond whole = rate_on_links(of, topology_, of.nic_rate);
      rate.occupancy = std::min(1.0, kSample / transfer / whole);
    }
  }
  return rate;
}

/// Written where it stays: what is put together elsewhere, field by field, is slow to copy at once.
void Recurrence::resolve(const RankGroup& group, const Operation& operation, Action& action) {
  action.kind = operation.kind;
  action.blocking = operation.blocking;
  action.slot = operation.slot;
  action.peer = operation.peer;
  switch (operation.kind) {
    case OperationKind::compute:
      action.seconds = at(block_time_, operation.block);
      break;
    case OperationKind::send: {
      const IdleRate& rate = rate_of(at(group.paths, operation.path));
      action.seconds = operation.amount.count() * rate.seconds_per_byte;
      action.latency = rate.latency;
      break;
    }
    case OperationKind::join: {
      action.communicator = at(group.communicators, operation.path);
      action.place = operation.path;
      const Communicator& of = at(workload_.communicators, action.communicator);
      const IdleRate& rate = rate_of(of.plan + operation.way);
      action.seconds =
          std::max(operation.amount.count() * rate.seconds_per_byte, operation.at_least.count());
      action.latency = rate.latency;
      action.occupancy = rate.occupancy;
      action.crosses_fabric = rate.crosses_fabric;
      action.queue = of.queue >= 0 ? of.queue : action.communicator;
      action.is_exchange = is_exchange(of);
      action.is_alone = at(present_, action.communicator) == 1;
      break;
    }
    case OperationKind::receive:
    case OperationKind::wait:
      break;
    case OperationKind::push:
    case OperationKind::pull:
    case OperationKind::advance:
      HEADWAY_CHECK(false, "what servers take is known by simulation only");
  }
}

/// Groups take turns, each as far as it can go, until all are through.
void Recurrence::run() {
  bool progress = true;
  while (progress) {
    progress = false;
    for (State& state : groups_) progress = advance(state) || progress;
  }
  for (const State& state : groups_) {
    HEADWAY_CHECK(state.counter == state.actions.size(),
                  "programs wait for each other in a circle");
    end_ = std::max(end_, state.clock.now);
  }
}

inline void Recurrence::Clock::wait_for(double started, double end) {
  waiting += std::max(0.0, std::min(started, end) - now);
  now = std::max(now, end);
}

/// Returns false if nobody knows yet when it arrives.
inline bool Recurrence::receive(const Message& message, Clock& clock) {
  if (std::isnan(message.arrived)) return false;
  clock.wait_for(message.sent, message.arrived);
  return true;
}

inline void Recurrence::send(Message& message, double latency, double seconds, bool blocking,
                             Clock& clock) {
  const double arrival = clock.now + latency + seconds;
  message = {clock.now, arrival};
  if (blocking) clock.now = arrival;
}

/// Returns false if what it waits for is not known yet.
inline bool Recurrence::execute(State& state, const Action& action, Clock& clock) {
  switch (action.kind) {
    case OperationKind::compute:
      clock.now += action.seconds;
      return true;
    case OperationKind::send:
      send(at(at(groups_, &state - groups_.data() + action.peer).messages, action.slot),
           action.latency, action.seconds, action.blocking, clock);
      return true;
    case OperationKind::receive:
      return receive(at(state.messages, action.slot), clock);
    case OperationKind::join:
      join(state, action, clock.now);
      return true;
    case OperationKind::wait:
      return wait(state, action.slot, clock);
    case OperationKind::push:
    case OperationKind::pull:
    case OperationKind::advance:
      break;
  }
  HEADWAY_CHECK(false, "an operation of servers");
}

/// Goes on as far as what it waits for is known. Returns whether that is anywhere.
bool Recurrence::advance(State& state) {
  const Progress before = state.progress;
  const std::size_t counter = state.counter;
  Clock clock = state.clock;
  do {
    while (state.counter < state.stop && execute(state, state.actions[state.counter], clock)) {
      ++state.counter;
    }
  } while (state.counter == state.stop && goes_on(state, clock));
  state.clock = clock;
  return state.counter != counter || state.progress != before;
}

/// From the end of a stretch of actions to the next one that takes more than its length: of a pass
/// in short, or what follows the last of these. Returns false if there is none, or what it waits
/// for is not known yet.
bool Recurrence::goes_on(State& state, Clock& clock) {
  if (!state.program->passes) return false;
  const Passes& passes = *state.program->passes;
  const std::vector<PassStep>& steps = passes.order->steps;
  // Most of a closed form is spent here: how far it is stays at hand.
  Progress at_hand = state.progress;
  Clock now = clock;
  const auto leave = [&](bool goes_on) {
    state.progress = at_hand;
    clock = now;
    return goes_on;
  };
  for (;;) {
    while (at_hand.next_stretch < at_hand.end_stretch) {
      const std::size_t which = at_hand.next_stretch++;
      const double length = state.lengths[which];
      if (std::isnan(length)) {
        state.counter = passes.stretches[which].begin;
        state.stop = passes.stretches[which].end;
        return leave(true);
      }
      now.now += length;
    }
    if (at_hand.is_in_pass) {
      const PassStep& done = steps[at_hand.pass++];
      at_hand.is_in_pass = false;
      if (done.sent >= 0) {
        const Sending& to = at(state.sends, done.message);
        send(to.receiver[done.sent], to.latency, to.seconds, passes.blocking, now);
      }
    }
    if (at_hand.pass >= steps.size()) break;
    const PassStep& next = steps[at_hand.pass];
    if (next.received >= 0 && !receive(at(state.messages, next.received), now)) return leave(false);
    at_hand.is_in_pass = true;
    if (next.body < 0) continue;
    at_hand.next_stretch = at(passes.bodies, next.body).begin;
    at_hand.end_stretch = at(passes.bodies, next.body).end;
  }
  if (at_hand.pass > steps.size()) return leave(false);
  ++at_hand.pass;
  state.counter = passes.end;
  state.stop = state.actions.size();
  return leave(true);
}

/// How long a stretch takes that depends on nobody else and leaves nothing under way, from its
/// beginning to its end, whenever that is; NaN of others.
double Recurrence::length_of(std::span<const Action> stretch) {
  struct UnderWay {
    std::int32_t slot = -1;
    std::int32_t queue = -1;
    double end = 0.0;
    bool is_awaited = false;
  };
  constexpr std::size_t kMost = 16;
  std::array<UnderWay, kMost> exchanges;
  std::size_t joined = 0;
  double now = 0.0;
  for (const Action& action : stretch) {
    if (action.kind == OperationKind::compute) {
      now += action.seconds;
    } else if (action.kind == OperationKind::join) {
      if (!action.is_alone || !action.is_exchange || joined == kMost) return kNotYet;
      double start = now;
      for (std::size_t i = 0; i < joined; ++i) {
        if (exchanges[i].queue == action.queue) start = std::max(start, exchanges[i].end);
      }
      exchanges[joined++] = {action.slot, action.queue, start + action.seconds + action.latency};
    } else if (action.kind == OperationKind::wait) {
      const auto end = exchanges.begin() + static_cast<std::ptrdiff_t>(joined);
      const auto of_slot = std::find_if(exchanges.begin(), end, [&](const UnderWay& exchange) {
        return exchange.slot == action.slot;
      });
      if (of_slot == end) return kNotYet;
      of_slot->is_awaited = true;
      now = std::max(now, of_slot->end);
    } else {
      return kNotYet;
    }
  }
  const bool leaves_any =
      std::any_of(exchanges.begin(), exchanges.begin() + static_cast<std::ptrdiff_t>(joined),
                  [](const UnderWay& exchange) { return !exchange.is_awaited; });
  return leaves_any ? kNotYet : now;
}

std::vector<double> Recurrence::lengths_of(const Passes& passes,
                                           const std::vector<Action>& actions) {
  constexpr double kUnknown = -1.0;
  lengths_by_begin_.assign(actions.size(), kUnknown);  // many bodies have a stretch in common
  std::vector<double> lengths;
  lengths.reserve(passes.stretches.size());
  for (const Passes::Range& stretch : passes.stretches) {
    double& length = lengths_by_begin_[stretch.begin];
    if (length == kUnknown) {
      length = length_of(std::span(actions).subspan(stretch.begin, stretch.end - stretch.begin));
    }
    lengths.push_back(length);
  }
  return lengths;
}

/// Returns false if nobody knows yet when it ends.
bool Recurrence::wait(State& state, std::int32_t which, Clock& clock) {
  Slot& slot = at(state.slots, which);
  if (std::isnan(slot.end)) {
    const Instance& instance = at(instances_, slot.communicator)[slot.instance];
    if (std::isnan(instance.end)) return false;
    slot.ready = instance.ready;
    slot.end = instance.end;
  }
  clock.wait_for(slot.ready, slot.end);
  return true;
}

void Recurrence::join(State& state, const Action& action, double now) {
  Slot& slot = at(state.slots, action.slot);
  if (action.is_alone) {
    slot = {now, end_of(state, action, now)};
    return;
  }
  std::vector<Instance>& instances = at(instances_, action.communicator);
  const std::size_t number = at(state.joins, action.place)++;
  if (instances.size() <= number) instances.resize(number + 1);
  slot = {.communicator = action.communicator, .instance = number};
  Instance& instance = instances[number];
  instance.ready = std::max(instance.ready, now);
  if (++instance.joined < at(present_, action.communicator)) return;
  instance.end = end_of(state, action, instance.ready);
}

/// When a collective ends that the state joins last, when all are ready.
double Recurrence::end_of(State& state, const Action& action, double ready) {
  double& last_end = at(last_end_, action.queue);
  const double start = std::max(ready, last_end);
  if (action.is_exchange) {  // a pass waits for it, whatever else is sent
    last_end = start + action.seconds + action.latency;
    return last_end;
  }
  double& free = state.free[action.crosses_fabric ? 1 : 0];
  free = std::max(start, free) + action.seconds * action.occupancy;
  last_end = std::max(start + action.seconds, free) + action.latency;
  return last_end;
}

bool Recurrence::has(std::int32_t program) const {
  return std::ranges::any_of(groups_,
                             [&](const State& state) { return state.group->program == program; });
}

double Recurrence::waiting_of(std::int32_t program) const {
  double most = 0.0;
  for (const State& state : groups_) {
    if (state.group->program != program) continue;
    most = std::max(most, state.clock.waiting + end_ - state.clock.now);
  }
  return most;
}

}  // namespace headway
