#include "sim/engine/executor.h"
#include "sim/engine/fetch_of_groups.h"

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
    if (event.kind == EventKind::block_done) {
      fetch_plan_of_send(event.id);
      fetch_joins(event.id);
    }
    if (is_fabric_flow(event)) {
      const Transfer& transfer = at(transfers_, incremental_->token_of(event));
      if (transfer.receiver != kNobody) {
        fetch(&at(groups_, transfer.receiver));
      } else if (transfer.communicator >= 0) {
        fetch(&at(collectives_, place_of({transfer.communicator, transfer.slot})));
      }
    }
  }
  for (const Event& event : queue_.coming(0)) {
    if (event.kind == EventKind::block_done) fetch_links_of_send(event.id);
    if (event.kind == EventKind::latency_over && incremental_ != nullptr) {
      incremental_->fetch_links_of_plan(at(transfers_, event.id).plan);
    }
    if (is_fabric_flow(event)) {
      const Transfer& transfer = at(transfers_, incremental_->token_of(event));
      if (transfer.receiver != kNobody) {
        fetch_receipt(transfer.receiver, transfer.slot);
      } else if (transfer.communicator >= 0) {
        const CollectiveNumber number{transfer.communicator, transfer.slot};
        for (const std::int32_t group : at(collectives_, place_of(number)).waiting) {
          fetch(&at(groups_, group));
        }
      }
    }
  }
}

/// The collectives that a group joins once its block is over, or waits for.
[[gnu::always_inline]] inline void Executor::fetch_joins(std::int32_t group) const {
  const GroupState& state = at(groups_, group);
  for (std::int32_t i = state.counter + 1; i < state.program->end; ++i) {
    const Operation& next = state.program->operations[i];
    if (next.kind == OperationKind::wait) {
      const CollectiveNumber awaited = state.joined(next.slot);
      if (awaited.communicator >= 0) fetch(&at(collectives_, place_of(awaited)));
    }
    if (next.kind != OperationKind::join) return;
    const CollectiveNumber number = state.joins[next.path];
    fetch(&at(collectives_, place_of(number)));
    fetch(at(timeline_.collectives, number.communicator).data() + number.instance);
  }
}

/// What a group asks for to whom a message arrives.
[[gnu::always_inline]] inline void Executor::fetch_receipt(std::int32_t group,
                                                           std::int32_t slot) const {
  fetch(at(groups_, group).messages + slot);
  fetch_what_follows(group);
}

}  // namespace headway
