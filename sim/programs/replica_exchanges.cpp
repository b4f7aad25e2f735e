#include "sim/programs/replica_exchanges.h"

#include <utility>

#include "sim/jobs/rank_shape_of.h"
#include "sim/programs/pieces/stage_pieces.h"

namespace headway {
namespace {

/// Parameters that the stage trains, on a rank of an island that has all of them.
double trained_by(const JobShape& job, int stage) {
  const Strategy& strategy = *job.strategy;
  double sum = 0.0;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    const int position =
        chunk_position(*strategy.schedule, stage, chunk, strategy.pipeline_parallel);
    for (const Piece& piece : chunk_pieces(job, position)) sum += piece.trained;
  }
  return sum;
}

double block_seconds(const Program& program, const Operation& operation) {
  if (operation.kind != OperationKind::compute) return 0.0;
  return program.blocks[static_cast<std::size_t>(operation.block)].time.total().count();
}

/// The place in front of which `share` of the compute stands. Cuts the block there in two.
std::ptrdiff_t place_after(Program& program, double share) {
  double left = 0.0;
  for (const Operation& operation : program.operations) left += block_seconds(program, operation);
  left *= share;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const double seconds = block_seconds(program, program.operations[i]);
    if (left >= seconds) {
      left -= seconds;
      continue;
    }
    if (left > 0.0) {
      const Block whole = program.blocks[static_cast<std::size_t>(program.operations[i].block)];
      const auto first = static_cast<std::int32_t>(program.blocks.size());
      program.blocks.push_back({whole.name, left / seconds * whole.time});
      program.blocks.push_back({whole.name, (1.0 - left / seconds) * whole.time});
      Operation rest = program.operations[i];
      program.operations[i].block = first;
      rest.block = first + 1;
      program.operations.insert(program.operations.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                rest);
      return static_cast<std::ptrdiff_t>(i) + 1;
    }
    return static_cast<std::ptrdiff_t>(i);
  }
  return std::ssize(program.operations);
}

/// The join of `times` such collectives an iteration, as far as bytes are concerned.
Operation seldom_join(Program& program, const JobShape& job, std::string_view communicator,
                      Bytes message, double times) {
  const CollectivePrice price = job.prices.at(communicator).price(message);
  program.communicators.emplace_back(communicator);
  return {.kind = OperationKind::join,
          .path = static_cast<std::int32_t>(std::ssize(program.communicators)) - 1,
          .slot = program.collective_slots++,
          .way = static_cast<std::int32_t>(price.way),
          .amount = times * price.amount};
}

}  // namespace

void add_exchanges(Program& program, const JobShape& job, int stage,
                   std::span<const ReplicaExchange> exchanges) {
  if (exchanges.empty()) return;
  const double trained = trained_by(job, stage);
  if (trained == 0.0) return;
  for (const ReplicaExchange& exchange : exchanges) {
    const double held =
        exchange.among == ExchangeAmong::islands ? trained / job.strategy->replicas() : trained;
    const Operation join =
        seldom_join(program, job, exchange.name,
                    Bytes(held / exchange.pieces * exchange.bits / 8.0), exchange.times);
    const std::ptrdiff_t begin = exchange.begin < 1.0 ? place_after(program, exchange.begin)
                                                      : std::ssize(program.operations);
    program.operations.insert(program.operations.begin() + begin, join);
    program.operations.push_back({.kind = OperationKind::wait, .slot = join.slot});
    if (exchange.updated_every == 0) continue;
    TimeByCause outer;
    outer[Cause::optimizer] =
        Seconds(held / exchange.updated_every * job.optimizer_seconds_per_parameter);
    program.blocks.push_back({"outer optimizer", outer});
    program.operations.push_back({.kind = OperationKind::compute,
                                  .block = static_cast<std::int32_t>(program.blocks.size()) - 1});
  }
}

}  // namespace headway
