#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/index.h"
#include "sim/engine/collective_queues.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/fetch.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/incremental_flows.h"
#include "sim/engine/parameter_servers.h"
#include "sim/programs/perturbation/block_draws.h"
#include "sim/programs/perturbation/period_draws.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/result/timeline.h"

namespace headway {

/// What a run leaves behind.
enum class Recorded {
  timeline,
  length  ///< of the timeline nothing but `finish` and counts: a fifth faster
};

/// Runs the programs of a workload: a rank group is a program counter and the slots it waits for.
/// Knows nothing of SimGrid; training_model.h hangs it into the engine.
class Executor {
 public:
  /// `workload` outlives this object. `slowest`: of workers whose lead is bounded, which of them
  /// hold the others up in the end; where nobody knows, those whose devices are slowest.
  Executor(const Workload& workload, const Perturbation& perturbation, Recorded recorded,
           const std::vector<bool>& slowest = {});

  /// Says who runs the flows; before `start`.
  void use_network(FlowNetwork& network) { network_ = &network; }
  void use_incremental(IncrementalFlows& flows);

  /// Lets every group run from time 0 to its first wait.
  void start();

  /// The time of the next event, or a negative number if there is none.
  [[nodiscard]] double next_time() const {
    return queue_.empty() || is_over_ ? -1.0 : queue_.next_time();
  }
  /// Handles every event up to `now`.
  void advance_to(double now);
  /// Handles all events of the next so many moments. Returns the last of these, or a negative
  /// number if nothing was left to do.
  double advance_moments(int count);
  /// A flow that `network` was given has arrived.
  void flow_finished(std::int32_t token, double now);

  [[nodiscard]] EventQueue& queue() { return queue_; }
  [[nodiscard]] bool complete() const { return is_over_ || unfinished_groups_ == 0; }
  /// What the first groups that have not finished wait for, for a report of a deadlock.
  [[nodiscard]] std::string unfinished_text() const;
  [[nodiscard]] Timeline take_timeline();

 private:
  static constexpr std::int32_t kNobody = -1;

  struct BlockTime {
    double seconds = 0.0;  ///< at nominal speed
    double device = 0.0;   ///< of these, what a slower device takes longer over
    bool is_repaired = false;
  };
  /// What all groups with a program have in common.
  struct ProgramState {
    const Operation* operations = nullptr;
    const BlockTime* blocks = nullptr;
    std::int32_t end = 0;    ///< operations
    std::int32_t paths = 0;  ///< by which its groups join communicators
  };
  /// What every transfer asks of its plan.
  struct PlanState {
    Seconds latency;
    BytesPerSecond rate_cap;
    bool crosses_links = false;
  };
  /// What every step of a group asks for, in one cache line.
  struct alignas(64) GroupState {
    std::int32_t counter = 0;  ///< the operation it is at
    std::int32_t device_count = 0;
    const ProgramState* program = nullptr;
    double* operation_end = nullptr;              ///< in the timeline; null if none is recorded
    Timeline::Message* messages = nullptr;        ///< in the timeline, by message slot
    const std::int32_t* paths = nullptr;          ///< its plans
    const BlockDraws::Device* devices = nullptr;  ///< in devices_: those for which is drawn
    double undrawn_factor = 0.0;                  ///< of the others
    /// In joins_: by Operation::path the collective that it joins next, behind these by collective
    /// slot the one that it joined.
    CollectiveNumber* joins = nullptr;

    [[nodiscard]] bool is_through() const { return counter >= program->end; }
    [[nodiscard]] const Operation& operation() const { return program->operations[counter]; }
    [[nodiscard]] CollectiveNumber& joined(std::int32_t slot) const {
      return joins[program->paths + slot];
    }
  };
  struct CollectiveState {
    std::int32_t joined = 0;
    std::int32_t way = 0;  ///< that its members take
    double at_least = 0.0;
    bool started = false;
    bool done = false;
    std::vector<std::int32_t> waiting;  ///< groups
  };
  /// A transfer under way: to a message slot, or of a collective.
  struct Transfer {
    std::int32_t plan = -1;
    double amount = 0.0;
    double at_least = 0.0;            ///< seconds of the flow, however idle its links are
    std::int32_t receiver = kNobody;  ///< group; kNobody for a collective
    std::int32_t slot = -1;           ///< message slot, or instance of the collective
    std::int32_t sender = kNobody;    ///< group that waits for a blocking send
    std::int32_t communicator = -1;
    std::int32_t served = -1;  ///< message from or to a server
  };

  [[nodiscard]] std::int32_t queue_of(std::int32_t communicator) const {
    const std::int32_t shared = at(workload_.communicators, communicator).queue;
    return shared < 0 ? communicator : shared;
  }
  [[nodiscard]] std::int64_t place_of(CollectiveNumber number) const {
    return at(first_collective_, number.communicator) + number.instance;
  }
  [[nodiscard]] CollectiveState& collective(CollectiveNumber number) {
    return at(collectives_, place_of(number));
  }
  [[nodiscard]] const Program& program_of(std::int32_t group) const;
  void set_up_programs();
  void set_up_timeline();
  void set_up_collectives();
  void set_up(std::size_t group);
  [[nodiscard]] std::vector<bool> slowest_groups() const;
  void handle_moment(double time);
  void look_ahead();
  void fetch_what_follows(std::int32_t group) const;
  [[nodiscard]] std::int32_t plan_of_send(std::int32_t group) const;
  void fetch_plan_of_send(std::int32_t group) const;
  void fetch_links_of_send(std::int32_t group) const;
  void fetch_joins(std::int32_t group) const;
  void fetch_receipt(std::int32_t group, std::int32_t slot) const;
  void handle(const Event& event, double now);
  void run(std::int32_t group, double now);
  bool execute(std::int32_t group, const Operation& operation, double now);
  [[nodiscard]] double device_factor(std::int32_t group);
  [[nodiscard]] double block_done(std::int32_t group, const Operation& operation, double now);
  void finish_operation(std::int32_t group, double now);
  void send(std::int32_t group, const Operation& operation, double now);
  void join(std::int32_t group, const Operation& operation, double now);
  void start_collective_if_ready(CollectiveNumber number, double now);
  void finish_collective(CollectiveNumber number, double now);
  void start_collective(CollectiveNumber number, double now);
  void start_transfer(const Transfer& transfer, double now);
  /// Starts a transfer that was sent before `now`, its latency too.
  void start_transfer(const Transfer& transfer, double sent, double now);
  [[nodiscard]] BytesPerSecond cap_of(const Transfer& transfer) const;
  void begin_flow(std::int32_t token, double now);
  void run_if_at(std::int32_t group, OperationKind kind, std::int32_t slot, double now);
  void end_run(double now);
  void skip_to_round(std::int32_t group, std::int32_t round, double now);

  const Workload& workload_;
  Perturbation perturbation_;
  Recorded recorded_;
  BlockDraws draws_;
  PeriodDraws period_draws_;
  std::vector<std::vector<BlockTime>> block_times_;  ///< by program
  FlowNetwork* network_ = nullptr;
  IncrementalFlows* incremental_ = nullptr;
  /// Whether micro-batches, slow episodes or pauses have a part in how long blocks take.
  bool blocks_change_ = false;
  EventQueue queue_;
  std::vector<Event> moment_;       ///< what is being handled
  std::uint64_t looked_ahead_ = 0;  ///< turn of the queue
  std::vector<ProgramState> programs_;
  std::vector<PlanState> plans_;
  std::vector<GroupState> groups_;
  std::vector<CollectiveNumber> joins_;         ///< group after group
  std::vector<BlockDraws::Device> devices_;     ///< group after group
  std::vector<CollectiveState> collectives_;    ///< communicator after communicator
  std::vector<std::int64_t> first_collective_;  ///< by communicator, in collectives_
  CollectiveQueues queues_;
  std::vector<Transfer> transfers_;  ///< by token
  std::vector<std::int32_t> free_tokens_;
  std::int32_t unfinished_groups_ = 0;
  bool is_over_ = false;  ///< as many groups are through as the run ends with
  std::vector<double> replica_finish_;
  Timeline timeline_;
  ParameterServers servers_;
};

}  // namespace headway
