#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/programs/flows/collective_price.h"
#include "sim/programs/stage_costs/exchange_flow.h"
#include "sim/programs/workload.h"

namespace headway {

/// Writes a program operation by operation, handing out slots.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) {
    program_.name = std::move(name);
    program_.blocks.reserve(8);
    program_.operations.reserve(96);
    program_.communicators.reserve(8);
  }

  /// Adds a kind of block, to be run any number of times.
  std::int32_t add_block(std::string_view name, const TimeByCause& time) {
    Block& block = program_.blocks.emplace_back();
    block.name = name;
    block.time = time;
    return static_cast<std::int32_t>(program_.blocks.size()) - 1;
  }
  /// The pass that the following operations belong to.
  void set_pass(int micro_batch, int chunk) {
    micro_batch_ = micro_batch;
    chunk_ = chunk;
  }

  void compute(std::int32_t block) { append(OperationKind::compute).block = block; }
  void send(std::int32_t peer, std::int32_t path, std::int32_t slot_of_receiver, Bytes amount,
            bool blocking) {
    Operation& send = append(OperationKind::send);
    send.blocking = blocking;
    send.peer = peer;
    send.path = path;
    send.slot = slot_of_receiver;
    send.amount = amount;
  }
  void receive(std::int32_t slot) {
    append(OperationKind::receive).slot = slot;
    program_.message_slots = std::max(program_.message_slots, slot + 1);
  }
  /// Returns the slot to wait for.
  std::int32_t join(std::string_view communicator, const CollectivePrice& price) {
    const std::int32_t slot = join(communicator, price.amount, price.at_least);
    program_.operations.back().way = static_cast<std::int32_t>(price.way);
    return slot;
  }
  std::int32_t join(std::string_view communicator, Bytes amount, Seconds at_least) {
    Operation& join = append(OperationKind::join);
    join.path = place_of(communicator);
    join.slot = program_.collective_slots++;
    join.amount = amount;
    join.at_least = at_least;
    return join.slot;
  }
  void wait(std::int32_t slot) { append(OperationKind::wait).slot = slot; }

  /// What the ranks of a pass compute. What hides of their exchanges is under way meanwhile or,
  /// where its window is narrow, while they compute the second block.
  struct Pass {
    std::int32_t block = -1;
    std::int32_t window = -1;
  };
  /// Adds a pass whose ranks exchange something over the fabric, to be run any number of times;
  /// `time` is all that it takes on an idle one.
  Pass add_pass(std::string_view name, TimeByCause time, const PassFlows& flows);
  /// Sends what hides while the ranks compute, then what they wait for, kind after kind.
  void run(const Pass& pass, const PassFlows& flows);

  /// Begins a further iteration.
  void begin_round() {
    program_.rounds.push_back(static_cast<std::int32_t>(std::ssize(program_.operations)));
  }
  /// Returns the slot to pull from.
  std::int32_t push(std::int32_t key) {
    Operation& push = append(OperationKind::push);
    push.path = key;
    push.slot = program_.message_slots++;
    push.way = static_cast<std::int32_t>(std::ssize(program_.rounds)) - 1;
    return push.slot;
  }
  void pull(std::int32_t slot) { append(OperationKind::pull).slot = slot; }
  void advance() { append(OperationKind::advance); }

  /// Operations so far.
  [[nodiscard]] std::size_t length() const { return program_.operations.size(); }
  [[nodiscard]] Program finished() && { return std::move(program_); }

 private:
  /// To be filled in where it stays: what is put together elsewhere, field by field, is slow to
  /// copy at once.
  Operation& append(OperationKind kind) {
    Operation& operation = program_.operations.emplace_back();
    operation.kind = kind;
    operation.micro_batch = micro_batch_;
    operation.chunk = chunk_;
    return operation;
  }

  std::int32_t place_of(std::string_view communicator) {
    if (const std::int32_t known = program_.place_of(communicator); known >= 0) return known;
    program_.communicators.emplace_back(communicator);
    return static_cast<std::int32_t>(std::ssize(program_.communicators)) - 1;
  }

  Program program_;
  int micro_batch_ = -1;
  int chunk_ = -1;
};

}  // namespace headway
