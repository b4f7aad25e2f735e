#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "sim/network/topology.h"
#include "sim/programs/workload.h"

namespace headway {

/// When the rank groups of some replicas are through with their programs on an idle network: each
/// goes on as soon as its own last operation and what it waits for are over. closed_form.h tells
/// what that means, and for whom. Passes in short that wait for nobody but their own exchanges take
/// the same whenever they begin, and are not gone through every time.
class Recurrence {
 public:
  /// `slowdowns` (one a stage, or none) stretch what devices compute.
  Recurrence(const Workload& workload, const Topology& topology, std::span<const double> slowdowns,
             const std::set<std::int32_t>& replicas);

  /// When the last group is through.
  [[nodiscard]] double end() const { return end_; }

  /// Whether a group has that program.
  [[nodiscard]] bool has(std::int32_t program) const;
  /// For others, until the end, of the groups with that program; of several the most.
  [[nodiscard]] double waiting_of(std::int32_t program) const;

 private:
  static constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();

  /// How fast a plan is on the idle network.
  struct IdleRate {
    double latency = 0.0;
    double seconds_per_byte = kNotYet;  ///< of a plan that nobody asked for
    bool crosses_fabric = false;
    /// What it takes up of its NICs and cables, or of its domain's fabric. Below 1 where software,
    /// or its members' ports into their domains, carry less.
    double occupancy = 1.0;
  };
  /// A message: when its bytes set out, and when they have arrived.
  struct Message {
    double sent = kNotYet;
    double arrived = kNotYet;
  };
  /// What was joined last in a slot: when all were ready and its end or, where others join it too,
  /// which it is.
  struct Slot {
    double ready = 0.0;
    double end = kNotYet;
    std::int32_t communicator = -1;
    std::size_t instance = 0;
  };
  /// The k-th collective of a communicator.
  struct Instance {
    int joined = 0;
    double ready = 0.0;  ///< when the last member joined
    double end = kNotYet;
  };
  /// An operation, and what it takes whenever it is executed.
  struct Action {
    OperationKind kind = OperationKind::compute;
    bool is_alone = false;  ///< of a collective that nobody else joins who is looked at
    bool is_exchange = false;
    bool crosses_fabric = false;
    bool blocking = false;
    std::int32_t slot = -1;
    std::int32_t communicator = -1;
    std::int32_t queue = -1;
    std::int32_t place = -1;  ///< of the communicator among those of the group
    std::int32_t peer = 0;
    double seconds = 0.0;  ///< to compute, or of its bytes
    double latency = 0.0;
    double occupancy = 1.0;
  };
  /// How far a group is, and how long it has waited for others; not for bytes under way.
  struct Clock {
    double now = 0.0;
    double waiting = 0.0;

    /// Goes on when something ends of which the bytes have been under way since `started`.
    void wait_for(double started, double end);
  };
  /// A message of passes in short.
  struct Sending {
    Message* receiver = nullptr;  ///< all that it receives
    std::int32_t peer = 0;
    double latency = 0.0;
    double seconds = 0.0;
  };
  /// How far it is with passes in short.
  struct Progress {
    std::size_t pass = 0;  ///< the one that is next or under way
    bool is_in_pass = false;
    std::size_t next_stretch = 0;  ///< of the pass under way
    std::size_t end_stretch = 0;   ///< behind its last
    friend bool operator==(const Progress&, const Progress&) = default;
  };
  struct State {
    const RankGroup* group = nullptr;
    const Program* program = nullptr;
    std::vector<Action> actions;
    std::vector<double> lengths;    ///< of stretches of passes in short, where these are known
    std::vector<Sending> sends;     ///< by PassStep::message
    std::vector<Message> messages;  ///< by slot
    std::vector<Slot> slots;
    std::vector<std::size_t> joins;  ///< so far, by communicator in the order of the group's
    std::array<double, 2> free{};    ///< when its domain's fabric, its NICs, have served all
    std::size_t counter = 0;         ///< the next action
    std::size_t stop = 0;            ///< behind the last of its stretch
    Progress progress;
    Clock clock;
  };

  void add(const RankGroup& group, double slowdown);
  [[nodiscard]] const IdleRate& rate_of(std::int64_t plan);
  void resolve(const RankGroup& group, const Operation& operation, Action& action);
  [[nodiscard]] static double length_of(std::span<const Action> stretch);
  [[nodiscard]] std::vector<double> lengths_of(const Passes& passes,
                                               const std::vector<Action>& actions);
  void run();
  bool advance(State& state);
  bool execute(State& state, const Action& action, Clock& clock);
  bool goes_on(State& state, Clock& clock);
  static bool receive(const Message& message, Clock& clock);
  bool wait(State& state, std::int32_t which, Clock& clock);
  static void send(Message& message, double latency, double seconds, bool blocking, Clock& clock);
  void join(State& state, const Action& action, double now);
  double end_of(State& state, const Action& action, double ready);

  const Workload& workload_;
  const Topology& topology_;
  std::vector<IdleRate> rates_;           ///< by plan
  std::vector<double> block_time_;        ///< of the program that is added
  std::vector<double> lengths_by_begin_;  ///< of its stretches
  std::vector<State> groups_;
  std::vector<int> present_;  ///< members of each communicator among the groups looked at
  std::vector<std::vector<Instance>> instances_;
  std::vector<double> last_end_;  ///< of the last collective, by queue
  double end_ = 0.0;
};

}  // namespace headway
