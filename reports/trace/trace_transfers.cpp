#include "reports/trace/trace_transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/result/workload_index.h"

namespace headway {

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

std::string pass_name(const std::string& block, const Operation& operation, bool has_chunks) {
  std::string name = block;
  if (operation.micro_batch >= 0) name += fmt::format(" mb {}", operation.micro_batch);
  if (has_chunks && operation.chunk >= 0) name += fmt::format(" chunk {}", operation.chunk);
  return name;
}

bool has_chunks(const Program& program) {
  return std::ranges::any_of(program.operations, [](const Operation& o) { return o.chunk > 0; });
}

TraceTransfers::TraceTransfers(const Workload& workload, const Timeline& timeline,
                               const std::vector<std::int32_t>& shown)
    : workload_(workload), timeline_(timeline), is_shown_(workload.groups.size(), 0) {
  for (const std::int32_t group : shown) is_shown_[static_cast<std::size_t>(group)] = 1;
  for (const Program& program : workload.programs) {
    ProgramTransfers found;
    found.consumer_of_slot.assign(static_cast<std::size_t>(program.message_slots), -1);
    const bool chunks = has_chunks(program);
    std::string computed = "transfer";
    std::vector<std::int32_t> received;  // since the last computation
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const Operation& operation = program.operations[i];
      if (operation.kind == OperationKind::compute) {
        computed = at(program.blocks, operation.block).name;
        for (const std::int32_t slot : received) {
          found.consumer_of_slot[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(i);
        }
        received.clear();
      } else if (operation.kind == OperationKind::receive) {
        received.push_back(operation.slot);
      } else if (operation.kind == OperationKind::send) {
        found.sends.push_back({&operation, pass_name(computed, operation, chunks)});
        if (std::ranges::find(found.peers, operation.peer) == found.peers.end()) {
          found.peers.push_back(operation.peer);
        }
      }
    }
    by_program_.push_back(std::move(found));
  }
}

const TraceTransfers::ProgramTransfers& TraceTransfers::program_transfers(
    std::int32_t group) const {
  return at(by_program_, at(workload_.groups, group).program);
}

TracedTransfer TraceTransfers::transfer(std::int32_t sender, const Send& send) const {
  TracedTransfer found{.sender = sender,
                       .receiver = sender + send.operation->peer,
                       .slot = send.operation->slot,
                       .operation = send.operation,
                       .what = send.what};
  const Timeline::Message& message = at(timeline_.messages_of(found.receiver), found.slot);
  found.sent = message.sent;
  found.arrived = message.arrived;
  HEADWAY_CHECK(found.arrived >= found.sent, "a message that never arrived");
  found.consumer = at(program_transfers(found.receiver).consumer_of_slot, found.slot);

  const bool both_shown = at(is_shown_, sender) != 0 && at(is_shown_, found.receiver) != 0;
  if (!both_shown || found.consumer < 0) return found;
  const auto ends = timeline_.ends_of(found.receiver);
  const double begin = found.consumer == 0 ? 0.0 : at(ends, found.consumer - 1);
  if (nanoseconds(found.arrived) > nanoseconds(found.sent) &&
      nanoseconds(at(ends, found.consumer)) > nanoseconds(begin)) {
    found.flow = at(timeline_.first_message, found.receiver) + found.slot;
  }
  return found;
}

std::vector<TracedTransfer> TraceTransfers::sent_by(std::int32_t group) const {
  std::vector<TracedTransfer> transfers;
  for (const Send& send : program_transfers(group).sends) {
    transfers.push_back(transfer(group, send));
  }
  return transfers;
}

std::vector<TracedTransfer> TraceTransfers::received_by(std::int32_t group) const {
  std::vector<TracedTransfer> transfers;
  for (std::size_t program = 0; program < by_program_.size(); ++program) {
    for (const std::int32_t peer : by_program_[program].peers) {
      const std::int32_t sender = group - peer;
      if (sender < 0 || sender >= std::ssize(workload_.groups)) continue;
      if (at(workload_.groups, sender).program != static_cast<std::int32_t>(program)) continue;
      for (const Send& send : by_program_[program].sends) {
        if (send.operation->peer == peer) transfers.push_back(transfer(sender, send));
      }
    }
  }
  return transfers;
}

}  // namespace headway
