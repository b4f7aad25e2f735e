#include "sim/programs/program_builder.h"

#include <utility>

namespace headway {

ProgramBuilder::Pass ProgramBuilder::add_pass(std::string_view name, TimeByCause time,
                                              const PassFlows& flows) {
  Pass pass;
  Seconds window;
  for (const ExchangeKind kind : kAllExchanges) {
    if (flows.of[kind].hidden > Bytes(0.0)) window += flows.of[kind].window;
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
  return pass;
}

void ProgramBuilder::run(const Pass& pass, const PassFlows& flows) {
  const auto join_hidden = [&](bool beside_window) {
    const std::int32_t first = program_.collective_slots;
    for (const ExchangeKind kind : kAllExchanges) {
      const ExchangeFlow& flow = flows.of[kind];
      if (flow.hidden > Bytes(0.0) && (flow.window > Seconds(0.0)) == beside_window) {
        join(communicator_of(kind), flow.hidden, flow.hidden_time);
      }
    }
    return std::pair{first, program_.collective_slots};  // slots are handed out in a row
  };
  const auto wait_all = [&](const std::pair<std::int32_t, std::int32_t>& slots) {
    for (std::int32_t slot = slots.first; slot < slots.second; ++slot) wait(slot);
  };
  const auto hidden = join_hidden(false);
  compute(pass.block);
  if (pass.window >= 0) {
    const auto beside = join_hidden(true);
    compute(pass.window);
    wait_all(beside);
  }
  wait_all(hidden);
  for (const ExchangeKind kind : kAllExchanges) {
    const ExchangeFlow& flow = flows.of[kind];
    if (flow.seen > Bytes(0.0)) wait(join(communicator_of(kind), flow.seen, flow.seen_time));
  }
}

}  // namespace headway
