#include "sim/programs/program_builder.h"

namespace headway {

std::int32_t ProgramBuilder::add_pass(const std::string& name, TimeByCause time,
                                      const PassFlows& flows) {
  Pass pass;
  Seconds window;
  for (const ExchangeKind kind : kAllExchanges) {
    const ExchangeFlow& flow = flows.of[kind];
    if (flow.hidden > Bytes(0.0)) {
      const bool is_narrow = flow.window > Seconds(0.0);
      if (is_narrow) window += flow.window;
      (is_narrow ? pass.beside_window : pass.hidden)
          .push_back({kind, flow.hidden, flow.hidden_time});
    }
    if (flow.seen > Bytes(0.0)) pass.seen.push_back({kind, flow.seen, flow.seen_time});
  }
  time += -1.0 * flows.awaited;
  if (window > Seconds(0.0)) {
    // Attention, here or run again.
    TimeByCause beside;
    const Seconds kernels = time[Cause::compute] + time[Cause::recompute];
    const double share = std::min(1.0, window / kernels);
    for (const Cause cause : {Cause::compute, Cause::recompute}) {
      beside[cause] = share * time[cause];
    }
    pass.window = add_block(name, beside);
    time += -1.0 * beside;
  }
  pass.block = add_block(name, time);
  passes_.push_back(std::move(pass));
  return static_cast<std::int32_t>(passes_.size()) - 1;
}

void ProgramBuilder::reserve(std::size_t steps) {
  std::size_t longest = 0;  // operations of a pass: a block or two, joins and waits
  for (const Pass& pass : passes_) {
    const std::size_t sent = pass.hidden.size() + pass.beside_window.size() + pass.seen.size();
    longest = std::max(longest, 1 + (pass.window >= 0 ? 1 : 0) + 2 * sent);
  }
  program_.operations.reserve(steps * (longest + 2));
}

void ProgramBuilder::run(std::int32_t index) {
  const Pass& pass = passes_[static_cast<std::size_t>(index)];
  // Slots are handed out in a row.
  const auto join_all = [&](const std::vector<Sent>& flows) {
    const std::int32_t first = program_.collective_slots;
    for (const Sent& flow : flows) join(communicator_of(flow.kind), flow.amount, flow.at_least);
    return first;
  };
  const auto wait_all = [&](std::int32_t first, const std::vector<Sent>& flows) {
    for (std::size_t i = 0; i < flows.size(); ++i) wait(first + static_cast<std::int32_t>(i));
  };
  const std::int32_t hidden = join_all(pass.hidden);
  compute(pass.block);
  if (pass.window >= 0) {
    const std::int32_t beside = join_all(pass.beside_window);
    compute(pass.window);
    wait_all(beside, pass.beside_window);
  }
  wait_all(hidden, pass.hidden);
  for (const Sent& flow : pass.seen) {
    wait(join(communicator_of(flow.kind), flow.amount, flow.at_least));
  }
}

}  // namespace headway
