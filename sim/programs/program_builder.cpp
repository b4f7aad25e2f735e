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

void ProgramBuilder::run(std::int32_t index) {
  const Pass& pass = passes_[static_cast<std::size_t>(index)];
  const auto join_all = [&](const std::vector<Sent>& flows) {
    std::vector<std::int32_t> slots;
    for (const Sent& flow : flows) {
      slots.push_back(join(communicator_of(flow.kind), flow.amount, flow.at_least));
    }
    return slots;
  };
  const auto wait_all = [&](const std::vector<std::int32_t>& slots) {
    for (const std::int32_t slot : slots) wait(slot);
  };
  const std::vector<std::int32_t> hidden = join_all(pass.hidden);
  compute(pass.block);
  if (pass.window >= 0) {
    const std::vector<std::int32_t> beside = join_all(pass.beside_window);
    compute(pass.window);
    wait_all(beside);
  }
  wait_all(hidden);
  for (const Sent& flow : pass.seen) {
    wait(join(communicator_of(flow.kind), flow.amount, flow.at_least));
  }
}

}  // namespace headway
