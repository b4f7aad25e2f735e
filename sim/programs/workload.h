#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/costs/collective_cost.h"
#include "sim/network/topology.h"
#include "sim/programs/cause.h"

namespace headway {

/// A link that a flow loads, and how many bytes cross it for each byte of the flow.
struct LinkLoad {
  LinkId link = -1;
  double weight = 1.0;
};

/// How a transfer or a phase of a collective uses the network: one flow that loads all its links at
/// once and so progresses with the slowest of them, as a pipelined ring or tree does. A flow of
/// `amount` bytes takes `latency`, then amount / rate, where the rate is the flow's max-min share,
/// at most `rate_cap`. Without links the cap alone decides (inside a scale-up domain).
struct FlowPlan {
  std::vector<LinkLoad> links;
  Seconds latency;
  BytesPerSecond rate_cap{std::numeric_limits<double>::infinity()};
  bool crosses_fabric = false;  ///< else it stays inside scale-up domains
};

/// What crosses a link in an iteration without a flow of its own.
struct ChargedBytes {
  LinkId link = -1;
  Bytes bytes;
};

enum class OperationKind : std::uint8_t {
  compute,  ///< occupies the rank group for the block's time
  send,     ///< starts a transfer to another rank group, and waits for it if `blocking`
  receive,  ///< waits for a message
  join,     ///< takes part in the next collective of a communicator, without waiting
  wait      ///< waits for the end of a collective joined before
};

/// One step of a program.
struct Operation {
  OperationKind kind = OperationKind::compute;
  bool blocking = false;    ///< send: the group goes on only when the message has arrived
  std::int32_t block = -1;  ///< compute: index into Program::blocks
  std::int32_t peer = 0;    ///< send: receiving group, relative to the sender
  std::int32_t path =
      -1;  ///< send: which of RankGroup::paths; join: which of RankGroup::communicators
  std::int32_t slot = -1;  ///< send: message slot of the receiver; receive: own message slot;
                           ///< join and wait: own collective slot
  std::int32_t way = 0;    ///< join: which of the communicator's plans the message takes
  Bytes amount;            ///< send and join: bytes of the flow
  std::int32_t micro_batch = -1;
  std::int32_t chunk = -1;
};

/// A piece of work of known length.
struct Block {
  std::string name;  ///< "forward", "backward", "optimizer"
  TimeByCause time;  ///< on a device of nominal speed
};

/// What every rank group of one class does in an iteration, in order.
struct Program {
  std::string name;  ///< "stage 3"
  std::vector<Block> blocks;
  std::vector<Operation> operations;
  std::int32_t message_slots = 0;
  std::int32_t collective_slots = 0;
};

/// The ranks of one tensor- and context-parallel group, which compute in lockstep and are simulated
/// as one.
struct RankGroup {
  std::int32_t program = 0;
  std::int32_t stage = 0;
  std::int32_t replica = 0;                 ///< data-parallel index
  std::vector<std::int32_t> accelerators;   ///< of its ranks
  std::vector<std::int32_t> paths;          ///< indices into Workload::plans, by Operation::path
  std::vector<std::int32_t> communicators;  ///< indices into Workload::communicators
};

/// Rank groups that run collectives together. The k-th join of each member belongs to the k-th
/// collective; one starts when its last member has joined and the one before is done.
struct Communicator {
  std::string name;  ///< "gradient reduce, stage 3"
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int32_t members = 0;
  std::int32_t plan = -1;    ///< index into Workload::plans, of its first way; others follow
  std::int32_t backups = 0;  ///< members that it does not wait for: the last ones to join
};

/// An iteration of a training job, ready to be simulated: programs by class of rank, never a graph
/// of all operations.
struct Workload {
  std::vector<Program> programs;
  std::vector<RankGroup> groups;
  std::vector<Communicator> communicators;
  std::vector<FlowPlan> plans;
  /// Of exchanges inside layers, which are charged as time of the blocks.
  std::vector<ChargedBytes> charged;
  std::int32_t ranks_per_group = 1;
  std::int32_t backup_replicas = 0;  ///< the iteration is over when all but so many are
  double nic_efficiency = 1.0;       ///< share of a NIC's rate that all its flows together reach
  std::vector<std::string> notes;    ///< what was simplified for this job, for the report
};

}  // namespace headway
