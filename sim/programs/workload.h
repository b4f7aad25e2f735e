#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  /// Bytes that are sent for each byte of the flow: software that takes longer over a message than
  /// its links do has a flow of more bytes.
  double sent = 1.0;
  bool crosses_fabric = false;  ///< else it stays inside scale-up domains
  /// What the ports of its accelerators into their scale-up domains give it, alone on them.
  BytesPerSecond port_rate{std::numeric_limits<double>::infinity()};
  /// What the NICs of its accelerators carry of it, alone on them.
  BytesPerSecond nic_rate{std::numeric_limits<double>::infinity()};
  /// Where flows of several process groups leave by the same ports: the communicators after which
  /// these are named; a store's port has the number behind all of them. All flows that name one
  /// share it as they share a link; none does of which nothing stays inside a domain.
  std::vector<std::int32_t> ports;
};

enum class OperationKind : std::uint8_t {
  compute,  ///< occupies the rank group for the block's time
  send,     ///< starts a transfer to another rank group, and waits for it if `blocking`
  receive,  ///< waits for a message
  join,     ///< takes part in the next collective of a communicator, without waiting
  wait,     ///< waits for the end of a collective joined before
  push,     ///< sends its part of a key to every server that holds some of it, without waiting
  pull,     ///< waits until all of these have answered
  advance   ///< goes on with the round that the answers since the last one allow
};

/// One step of a program.
struct Operation {
  OperationKind kind = OperationKind::compute;
  bool blocking = false;    ///< send: the group goes on only when the message has arrived
  std::int32_t block = -1;  ///< compute: index into Program::blocks
  std::int32_t peer = 0;    ///< send: receiving group, relative to the sender
  /// Send: which of RankGroup::paths; join: which of RankGroup::communicators; push: which key.
  std::int32_t path = -1;
  std::int32_t slot = -1;  ///< send: message slot of the receiver; receive, push and pull: own
                           ///< message slot; join and wait: own collective slot
  std::int32_t way = 0;    ///< join: which of the communicator's plans; push: of which round
  Bytes amount;            ///< send and join: bytes of the flow
  Seconds at_least;        ///< join: how long the flow takes however idle its links are
  std::int32_t micro_batch = -1;
  std::int32_t chunk = -1;
};

/// A piece of work of known length.
struct Block {
  std::string name;  ///< "forward", "backward", "optimizer"
  TimeByCause time;  ///< on a device of nominal speed
};

struct PassOrder;

/// The passes of a program in short: what they do themselves is there once for all micro-batches.
/// Of the program's operations those from `begin` to `end` belong to such bodies. In their place
/// every step of the order receives, runs its body and sends; a wait is for what was joined last
/// in that slot.
struct Passes {
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  std::shared_ptr<const PassOrder> order;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Range> stretches;  ///< of operations; those that begin together end together
  std::vector<Range> bodies;     ///< of stretches, by PassStep::body
  std::vector<Bytes> messages;   ///< by PassStep::message
  bool blocking = false;         ///< senders wait until what they send has arrived
};

/// What every rank group of one class does in an iteration, in order.
struct Program {
  std::string name;  ///< "stage 3"
  std::vector<Block> blocks;
  std::vector<Operation> operations;
  /// Where these are not written out (`written_out`): nothing that is simulated is in short.
  std::optional<Passes> passes;
  std::vector<std::string> communicators;  ///< what it calls those that it joins
  std::int32_t message_slots = 0;
  std::int32_t collective_slots = 0;
  /// Where several iterations are one program: the first operation of each.
  std::vector<std::int32_t> rounds;

  /// What it computes in an iteration, at nominal speed.
  [[nodiscard]] Seconds nominal_work() const {
    Seconds work;
    for (const Operation& operation : operations) {
      if (operation.kind != OperationKind::compute) continue;
      work += blocks[static_cast<std::size_t>(operation.block)].time.total();
    }
    return work;
  }

  /// The place of a communicator in RankGroup::communicators; -1 if the program joins none so.
  [[nodiscard]] std::int32_t place_of(std::string_view communicator) const {
    const auto found = std::ranges::find(communicators, communicator);
    return found == communicators.end() ? -1
                                        : static_cast<std::int32_t>(found - communicators.begin());
  }
};

/// Steps of its own that a rank group takes between two times that it waits for ranks of other
/// islands. An iteration is the average one of them.
struct LocalPeriod {
  std::int32_t steps = 1;
  /// Of its replica among those of its island.
  std::int32_t place = 0;
  /// Whether it waits for other rank groups of its island at every one of them.
  bool meets_others = false;
};

/// The ranks of one tensor- and context-parallel group, which compute in lockstep and are simulated
/// as one.
struct RankGroup {
  std::int32_t program = 0;
  std::int32_t stage = 0;
  std::int32_t replica = 0;                ///< data-parallel index
  std::vector<std::int32_t> accelerators;  ///< of its ranks
  std::vector<std::int32_t> paths;         ///< indices into Workload::plans, by Operation::path
  /// Indices into Workload::communicators, in the order of its program's names for them.
  std::vector<std::int32_t> communicators;
  LocalPeriod local;
};

/// Rank groups that run collectives together. The k-th join of each member belongs to the k-th
/// collective; one starts when its last member has joined and the one before is done, that of its
/// own or of another communicator in the same queue.
struct Communicator {
  std::string name;  ///< "gradient reduce, stage 3"
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int32_t members = 0;
  std::int32_t plan = -1;    ///< index into Workload::plans, of its first way; others follow
  std::int32_t backups = 0;  ///< members that it does not wait for: the last ones to join
  /// The communicator by which its queue is known, itself included: software runs all collectives
  /// of a process group one after the other, in the order in which they are ready. -1: its own.
  std::int32_t queue = -1;
  /// What the time under way is charged to.
  Cause cause = Cause::data_parallel_exposed;
};

/// Whether it carries what ranks send each other inside layers, which passes wait for; else it is
/// of replicas.
[[nodiscard]] inline bool is_exchange(const Communicator& communicator) {
  return communicator.cause != Cause::data_parallel_exposed;
}

/// What a server does about one key: parameters whose gradients travel together.
struct ServedKey {
  Bytes push;      ///< that a rank group sends it; nothing where the server holds none of the key
  Bytes pull;      ///< that it sends back
  Seconds add_up;  ///< for every push of a round
  Seconds update;  ///< for every round, or for every push where each is an update
};

/// Holds some of the parameters. Takes what rank groups push in the order in which it arrives, one
/// at a time, and sends parameters back.
struct Server {
  std::string name;                      ///< "server 3"
  std::vector<ServedKey> keys;           ///< all of the job
  std::vector<std::int32_t> plans_here;  ///< by rank group, indices into Workload::plans
  std::vector<std::int32_t> plans_back;
};

/// When servers answer.
struct Serving {
  static constexpr std::int32_t kAnyLead = std::numeric_limits<std::int32_t>::max();

  /// Pushes of a round that are added up, whereupon parameters are updated and all are answered;
  /// what comes later for that round is dropped. 0: every push is an update, answered by itself.
  std::int32_t quorum = 0;
  /// Without a quorum: by how many updates of a key a group may be ahead of the slowest.
  std::int32_t lead = kAnyLead;
};

/// An iteration of a training job, ready to be simulated: programs by class of rank, never a graph
/// of all operations.
struct Workload {
  std::vector<Program> programs;
  std::vector<RankGroup> groups;
  std::vector<Communicator> communicators;
  std::vector<FlowPlan> plans;
  std::int32_t ranks_per_group = 1;
  std::int32_t backup_replicas = 0;  ///< the iteration is over when all but so many are
  std::vector<Server> servers;
  Serving serving;
  std::int32_t iterations = 1;  ///< that the programs run through
  /// Whether every worker of servers has a pace of its own, which an iteration is the average of.
  [[nodiscard]] bool is_out_of_step() const { return !servers.empty() && serving.quorum == 0; }
  /// The run ends when so many rank groups are through, whatever the others do; 0: when all are.
  std::int32_t ends_with = 0;
  double nic_efficiency = 1.0;     ///< share of a NIC's rate that all its flows together reach
  std::vector<std::string> notes;  ///< what was simplified for this job, for the report
};

}  // namespace headway
