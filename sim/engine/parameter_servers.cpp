#include "sim/engine/parameter_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::int32_t kNoLimit = std::numeric_limits<std::int32_t>::max();

template <class T>
auto& element(T& items, std::int64_t i) {
  return items[static_cast<std::size_t>(i)];
}

}  // namespace

ParameterServers::ParameterServers(const Workload& workload, Timeline& timeline, Outside outside)
    : workload_(workload), timeline_(timeline), outside_(std::move(outside)) {
  if (workload.servers.empty()) return;
  const std::size_t groups = workload.groups.size();
  last_sent_.assign(2 * groups * workload.servers.size(), kNone);
  timeline_.served.resize(workload.servers.size());
  allowed_.assign(groups, kNoLimit);
  for (const Server& server : workload.servers) {
    ServerState& state = servers_.emplace_back();
    for (std::size_t key = 0; key < server.keys.size(); ++key) {
      state.keys.push_back({.updates_read = std::vector<std::int32_t>(groups, 0),
                            .pushes = std::vector<std::int32_t>(groups, 0)});
    }
  }
  for (const RankGroup& group : workload.groups) {
    const Program& program = element(workload.programs, group.program);
    awaited_.emplace_back(static_cast<std::size_t>(program.message_slots), 0);
  }
}

void ParameterServers::use_up_lead(const std::vector<bool>& is_slowest) {
  const Serving& serving = workload_.serving;
  if (serving.quorum > 0 || serving.lead == Serving::kAnyLead) return;
  for (ServerState& server : servers_) {
    for (KeyState& key : server.keys) {
      for (std::size_t group = 0; group < is_slowest.size(); ++group) {
        if (!is_slowest[group]) key.pushes[group] = serving.lead;
      }
    }
  }
}

void ParameterServers::push(std::int32_t group, const Operation& operation, double now) {
  std::int32_t& awaited = element(element(awaited_, group), operation.slot);
  HEADWAY_CHECK(awaited == 0, fmt::format("group {} pushes from slot {} before it was answered",
                                          group, operation.slot));
  for (std::int32_t server = 0; server < std::ssize(servers_); ++server) {
    const ServedKey& key = element(element(workload_.servers, server).keys, operation.path);
    if (key.push.count() <= 0.0) continue;
    ++awaited;
    send(added({.server = server,
                .group = group,
                .key = operation.path,
                .slot = operation.slot,
                .round = operation.way}),
         now);
  }
}

bool ParameterServers::is_answered(std::int32_t group, std::int32_t slot) const {
  return element(element(awaited_, group), slot) == 0;
}

std::int32_t ParameterServers::next_round(std::int32_t group) {
  return std::exchange(element(allowed_, group), kNoLimit);
}

std::int32_t ParameterServers::added(const Message& message) {
  if (free_.empty()) {
    messages_.push_back(message);
    return static_cast<std::int32_t>(messages_.size()) - 1;
  }
  const std::int32_t number = free_.back();
  free_.pop_back();
  element(messages_, number) = message;
  return number;
}

std::int32_t& ParameterServers::last_sent(const Message& message) {
  const std::int64_t pair =
      std::int64_t{message.server} * std::ssize(workload_.groups) + message.group;
  return element(last_sent_, 2 * pair + (message.is_answer ? 1 : 0));
}

/// At the end of its connection; at once if nothing is on it.
void ParameterServers::send(std::int32_t message, double now) {
  element(messages_, message).sent = now;
  std::int32_t& last = last_sent(element(messages_, message));
  const std::int32_t before = std::exchange(last, message);
  if (before == kNone) {
    depart(message, now);
  } else {
    element(messages_, before).next = message;
  }
}

void ParameterServers::depart(std::int32_t message, double now) {
  Message& sent = element(messages_, message);
  sent.begun = now;
  const Server& server = element(workload_.servers, sent.server);
  const ServedKey& key = element(server.keys, sent.key);
  const std::vector<std::int32_t>& plans = sent.is_answer ? server.plans_back : server.plans_here;
  outside_.carry(element(plans, sent.group), (sent.is_answer ? key.pull : key.push).count(),
                 message, sent.sent, now);
}

void ParameterServers::arrived(std::int32_t message, double now) {
  const Message arrived = element(messages_, message);
  if (arrived.next == kNone) {
    last_sent(arrived) = kNone;
  } else {
    depart(arrived.next, now);
  }
  if (!arrived.is_answer) {
    ServerState& server = element(servers_, arrived.server);
    server.queue.push_back(message);
    if (server.current == kNone) begin_next(arrived.server, now);
    return;
  }
  free_.push_back(message);
  std::int32_t& allowed = element(allowed_, arrived.group);
  allowed = std::min(allowed, arrived.round);
  if (--element(element(awaited_, arrived.group), arrived.slot) > 0) return;
  const std::int64_t record = element(timeline_.first_message, arrived.group) + arrived.slot;
  element(timeline_.messages, record) = {.sent = arrived.begun, .arrived = now};
  outside_.answered(arrived.group, arrived.slot, now);
}

/// Takes the push that came first; those of rounds that are over are answered and forgotten.
void ParameterServers::begin_next(std::int32_t server, double now) {
  ServerState& state = element(servers_, server);
  Timeline::Served& record = element(timeline_.served, server);
  state.current = kNone;
  const std::int32_t quorum = workload_.serving.quorum;
  while (!state.queue.empty()) {
    const std::int32_t number = state.queue.front();
    state.queue.pop_front();
    const Message push = element(messages_, number);
    const KeyState& key = element(state.keys, push.key);
    if (quorum > 0 && push.round < key.updates) {
      ++record.dropped;
      answer(number, key.updates, now);
      continue;
    }
    const ServedKey& cost = element(element(workload_.servers, server).keys, push.key);
    double time = quorum == 0 ? 0.0 : cost.add_up.count();
    if (quorum == 0 || key.added_up + 1 == quorum) time += cost.update.count();
    state.current = number;
    ++record.taken;
    record.busy += time;
    outside_.wake(now + time, server);
    return;
  }
}

void ParameterServers::done(std::int32_t server, double now) {
  ServerState& state = element(servers_, server);
  const Message push = element(messages_, state.current);
  KeyState& key = element(state.keys, push.key);
  key.waiting.push_back(state.current);
  if (workload_.serving.quorum > 0) {
    ++key.added_up;
    end_round_if_full(key, now);
  } else {
    timeline_.updates.push_back({.time = now,
                                 .server = server,
                                 .key = push.key,
                                 .group = push.group,
                                 .staleness = key.updates - element(key.updates_read, push.group)});
    ++key.updates;
    ++element(key.pushes, push.group);
    answer_who_may_go_on(key, now);
  }
  begin_next(server, now);
}

void ParameterServers::end_round_if_full(KeyState& key, double now) {
  if (key.added_up < workload_.serving.quorum) return;
  key.added_up = 0;
  ++key.updates;
  for (const std::int32_t push : std::exchange(key.waiting, {})) answer(push, key.updates, now);
}

void ParameterServers::answer_who_may_go_on(KeyState& key, double now) {
  const std::int32_t lead = workload_.serving.lead;
  const std::int32_t slowest = lead == Serving::kAnyLead ? 0 : std::ranges::min(key.pushes);
  for (const std::int32_t number : std::exchange(key.waiting, {})) {
    const Message push = element(messages_, number);
    if (lead != Serving::kAnyLead && element(key.pushes, push.group) - slowest > lead) {
      key.waiting.push_back(number);
      continue;
    }
    element(key.updates_read, push.group) = key.updates;
    answer(number, push.round + 1, now);
  }
}

void ParameterServers::answer(std::int32_t push, std::int32_t round, double now) {
  Message& message = element(messages_, push);
  message.is_answer = true;
  message.round = round;
  message.next = kNone;
  send(push, now);
}

}  // namespace headway
