#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/engine/executor.h"

namespace headway {

std::string Executor::unfinished_text() const {
  constexpr std::array kWords{"compute", "send", "receive", "join",
                              "wait",    "push", "pull",    "advance"};
  std::string text;
  int named = 0;
  for (std::size_t i = 0; i < groups_.size() && named < 4; ++i) {
    const Program& program = program_of(static_cast<std::int32_t>(i));
    const std::int32_t counter = groups_[i].counter;
    if (counter >= std::ssize(program.operations)) continue;
    ++named;
    text += fmt::format("{}group {} ({}) at operation {} of {} ({})", text.empty() ? "" : ", ", i,
                        program.name, counter, program.operations.size(),
                        kWords[static_cast<std::size_t>(at(program.operations, counter).kind)]);
  }
  return fmt::format("{} of {} rank groups did not finish: {}", unfinished_groups_, groups_.size(),
                     text);
}

/// Enough groups are through. Bytes were counted when they were sent; of those under way a part
/// never arrives.
void Executor::end_run(double now) {
  is_over_ = true;
  timeline_.finish = now;
  if (recorded_ == Recorded::length) return;
  std::vector<double> left;  // by token
  for (const Transfer& transfer : transfers_) left.push_back(transfer.amount);
  for (const std::int32_t token : free_tokens_) at(left, token) = 0.0;
  network_->tell_under_way([&](std::int32_t token, double bytes) { at(left, token) = bytes; }, now);
  for (std::size_t token = 0; token < left.size(); ++token) {
    at(timeline_.plan_bytes, transfers_[token].plan) -= left[token];
  }
}

Timeline Executor::take_timeline() {
  if (incremental_ != nullptr) {
    const MaxMinShares::Counts& of_solver = incremental_->counts();
    timeline_.counts.settlings = of_solver.settlings;
    timeline_.counts.recomputed = of_solver.recomputed;
    timeline_.counts.changed = of_solver.changed;
  }
  if (is_over_ && recorded_ == Recorded::length) return std::move(timeline_);
  if (is_over_) {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const std::int64_t first = timeline_.first_operation[group] + groups_[group].counter;
      std::fill(timeline_.operation_end.begin() + first,
                timeline_.operation_end.begin() + timeline_.first_operation[group + 1],
                timeline_.finish);
    }
    return std::move(timeline_);
  }
  std::ranges::sort(replica_finish_);
  const std::int64_t last = std::ssize(replica_finish_) - 1 - workload_.backup_replicas;
  timeline_.finish = at(replica_finish_, last);
  return std::move(timeline_);
}

}  // namespace headway
