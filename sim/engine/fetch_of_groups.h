#pragma once

/// What the executor does to find the memory of groups in a cache (look_ahead.cpp).

#include <algorithm>

#include "sim/base/index.h"
#include "sim/engine/executor.h"
#include "sim/engine/fetch.h"

namespace headway {

/// What a group asks for once what it is at is over, until it computes again or waits.
[[gnu::always_inline]] inline void Executor::fetch_what_follows(std::int32_t group) const {
  const GroupState& state = at(groups_, group);
  if (state.operation_end != nullptr) fetch(state.operation_end + state.counter);
  fetch(state.devices, state.device_count);
  for (std::int32_t i = state.counter + 1; i < state.program->end; ++i) {
    const Operation& next = state.program->operations[i];
    switch (next.kind) {
      case OperationKind::send:
        fetch(state.paths + next.path);
        if (recorded_ == Recorded::timeline) {
          fetch(at(groups_, group + next.peer).messages + next.slot);
        }
        break;
      case OperationKind::join:
        fetch(state.joins + next.path);
        fetch(&state.joined(next.slot));
        break;
      case OperationKind::wait:
        fetch(&state.joined(next.slot));
        return;
      case OperationKind::receive:
        fetch(state.messages + next.slot);
        return;
      default:
        return;
    }
  }
}

/// The plan of what a group sends once what it is at is over; -1 if it sends nothing.
[[gnu::always_inline]] inline std::int32_t Executor::plan_of_send(std::int32_t group) const {
  const GroupState& state = at(groups_, group);
  const std::int32_t behind = std::min(state.counter + 1, state.program->end - 1);
  const Operation& next = state.program->operations[behind];
  return next.kind == OperationKind::send ? state.paths[next.path] : -1;
}

[[gnu::always_inline]] inline void Executor::fetch_plan_of_send(std::int32_t group) const {
  const std::int32_t plan = plan_of_send(group);
  if (plan < 0) return;
  fetch(&at(plans_, plan));
  if (recorded_ == Recorded::timeline) fetch(&at(timeline_.plan_bytes, plan));
  if (incremental_ != nullptr) incremental_->fetch_plan(plan);
}

[[gnu::always_inline]] inline void Executor::fetch_links_of_send(std::int32_t group) const {
  const std::int32_t plan = plan_of_send(group);
  if (plan >= 0 && incremental_ != nullptr) incremental_->fetch_links_of_plan(plan);
}

}  // namespace headway
