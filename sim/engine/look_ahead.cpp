#include <algorithm>

#include "sim/base/fetch.h"
#include "sim/base/signed_index.h"
#include "sim/engine/executor.h"

namespace headway {

/// Where speeds are drawn, every event is of another group than the one before, and of a large job
/// most of what it asks for is in no cache: an event would wait for memory a dozen times. What
/// leads from one piece of memory to the next is followed a bucket of events at a time, so that
/// each step finds what the one before asked for.
void Executor::look_ahead() {
  looked_ahead_ = queue_.turn();
  const auto is_fabric_flow = [](const Event& event) {
    return event.kind == EventKind::flow_done && event.version != 0;
  };
  for (const Event& event : queue_.coming(3)) {
    if (event.kind == EventKind::block_done) fetch(&at(groups_, event.id));
    if (is_fabric_flow(event)) incremental_->fetch_flow(event);
  }
  for (const Event& event : queue_.coming(2)) {
    if (event.kind == EventKind::block_done) fetch_what_follows(event.id);
    if (is_fabric_flow(event)) {
      incremental_->fetch_links_of(event);
      fetch(&at(transfers_, incremental_->token_of(event)));
    }
  }
  for (const Event& event : queue_.coming(1)) {
    if (event.kind == EventKind::block_done) fetch_plan_of_send(event.id);
    if (is_fabric_flow(event)) {
      const Transfer& transfer = at(transfers_, incremental_->token_of(event));
      if (transfer.receiver != kNobody) fetch(&at(groups_, transfer.receiver));
    }
  }
  for (const Event& event : queue_.coming(0)) {
    if (event.kind == EventKind::latency_over && incremental_ != nullptr) {
      incremental_->fetch_links_of_plan(at(transfers_, event.id).plan);
    }
    if (is_fabric_flow(event)) {
      const Transfer& transfer = at(transfers_, incremental_->token_of(event));
      if (transfer.receiver != kNobody) fetch_receipt(transfer.receiver, transfer.slot);
    }
  }
}

/// What a group asks for once its block is over, until it computes again or waits.
[[gnu::always_inline]] inline void Executor::fetch_what_follows(std::int32_t group) const {
  const GroupState& state = at(groups_, group);
  fetch(state.operation_end + state.counter);
  fetch(state.devices, state.device_count);
  for (std::int32_t i = state.counter + 1; i < state.end; ++i) {
    const Operation& next = state.operations[i];
    if (next.kind == OperationKind::send) {
      fetch(state.paths + next.path);
      fetch(at(groups_, group + next.peer).messages + next.slot);
    } else {
      if (next.kind == OperationKind::receive) fetch(state.messages + next.slot);
      return;
    }
  }
}

[[gnu::always_inline]] inline void Executor::fetch_plan_of_send(std::int32_t group) const {
  const GroupState& state = at(groups_, group);
  const Operation& next = state.operations[std::min(state.counter + 1, state.end - 1)];
  if (next.kind != OperationKind::send) return;
  const std::int32_t plan = state.paths[next.path];
  fetch(&at(workload_.plans, plan));
  fetch(&at(timeline_.plan_bytes, plan));
  if (incremental_ != nullptr) incremental_->fetch_plan(plan);
}

/// What a group asks for to whom a message arrives.
[[gnu::always_inline]] inline void Executor::fetch_receipt(std::int32_t group,
                                                           std::int32_t slot) const {
  const GroupState& state = at(groups_, group);
  fetch(state.messages + slot);
  fetch(state.operation_end + state.counter);
  fetch(state.devices, state.device_count);
}

}  // namespace headway
