#include "sim/programs/closed_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/signed_index.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/perturbation/slow_replicas.h"

namespace headway {
namespace {

constexpr double kNotYet = std::numeric_limits<double>::quiet_NaN();

/// A message: when its bytes set out, and when they have arrived.
struct Message {
  double sent = kNotYet;
  double arrived = kNotYet;
};

/// How fast a plan is on the idle network.
struct IdleRate {
  double latency = 0.0;
  double seconds_per_byte = 0.0;
  bool crosses_fabric = false;
  /// What it takes up of its NICs and cables, or of its domain's fabric. Below 1 where software, or
  /// its members' ports into their domains, carry less.
  double occupancy = 1.0;
};

/// The k-th collective of a communicator.
struct Instance {
  int joined = 0;
  double ready = 0.0;  ///< when the last member joined
  double end = kNotYet;
};

class ClosedForm {
 public:
  ClosedForm(const Workload& workload, const Topology& topology, std::span<const double> slowdowns,
             const std::set<std::int32_t>& replicas)
      : workload_(workload), topology_(topology), rates_(workload.plans.size()) {
    for (const RankGroup& group : workload.groups) {
      if (!replicas.contains(group.replica)) continue;
      const Program& program = at(workload.programs, group.program);
      const double slowdown = slowdowns.empty() ? 1.0 : at(slowdowns, group.stage);
      State state;
      state.group = &group;
      state.program = &program;
      for (const Block& block : program.blocks) {
        state.block_time.push_back(
            (block.time.total() + (slowdown - 1.0) * block.time.of_device()).count());
      }
      state.messages.resize(static_cast<std::size_t>(program.message_slots));
      state.slots.resize(static_cast<std::size_t>(program.collective_slots));
      state.joins.assign(group.communicators.size(), 0);
      groups_.push_back(std::move(state));
    }
    present_.assign(workload.communicators.size(), 0);
    for (const State& state : groups_) {
      for (const std::int32_t id : state.group->communicators) {
        if (id >= 0) ++at(present_, id);
      }
    }
    instances_.resize(workload.communicators.size());
    last_end_.assign(workload.communicators.size(), 0.0);
  }

  /// Groups take turns, each as far as it can go, until all are through.
  void run() {
    bool progress = true;
    while (progress) {
      progress = false;
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        while (groups_[i].counter < groups_[i].program->operations.size() && execute(i)) {
          ++groups_[i].counter;
          progress = true;
        }
      }
    }
    for (const State& state : groups_) {
      HEADWAY_CHECK(state.counter == state.program->operations.size(),
                    "programs wait for each other in a circle");
      end_ = std::max(end_, state.now);
    }
  }

  [[nodiscard]] bool has(std::int32_t program) const {
    return std::ranges::any_of(groups_,
                               [&](const State& state) { return state.group->program == program; });
  }

  [[nodiscard]] double end() const { return end_; }

  /// Until the end, of the groups with that program; of several the most.
  [[nodiscard]] double waiting_of(std::int32_t program) const {
    double most = 0.0;
    for (const State& state : groups_) {
      if (state.group->program != program) continue;
      most = std::max(most, state.waiting + end_ - state.now);
    }
    return most;
  }

 private:
  struct Slot {
    std::int32_t communicator = -1;
    std::size_t instance = 0;
  };
  struct State {
    const RankGroup* group = nullptr;
    const Program* program = nullptr;
    std::vector<double> block_time;
    std::vector<Message> messages;  ///< by slot
    std::vector<Slot> slots;
    std::vector<std::size_t> joins;  ///< so far, by place in RankGroup::communicators
    std::array<double, 2> free{};    ///< when its domain's fabric, its NICs, have served all
    std::size_t counter = 0;
    double now = 0.0;
    double waiting = 0.0;  ///< for others, not for bytes under way
  };

  [[nodiscard]] const IdleRate& rate_of(std::int64_t plan) {
    std::optional<IdleRate>& rate = at(rates_, plan);
    if (!rate) {
      constexpr Bytes kSample(1e9);
      const FlowPlan& of = at(workload_.plans, plan);
      const Seconds transfer = idle_time(of, topology_, kSample) - of.latency;
      rate = {of.latency.count(), transfer.count() / kSample.count(), of.crosses_fabric};
      if (of.crosses_fabric) {
        const BytesPerSecond whole = rate_on_links(of, topology_, of.nic_rate);
        rate->occupancy = std::min(1.0, kSample / transfer / whole);
      }
    }
    return *rate;
  }

  /// Goes on when something ends of which the bytes have been under way since `started`.
  static void wait_for(State& state, double started, double end) {
    state.waiting += std::max(0.0, std::min(started, end) - state.now);
    state.now = std::max(state.now, end);
  }

  /// Returns false if what it waits for is not known yet.
  bool execute(std::size_t index) {
    State& state = groups_[index];
    const Operation& operation = state.program->operations[state.counter];
    switch (operation.kind) {
      case OperationKind::compute:
        state.now += at(state.block_time, operation.block);
        return true;
      case OperationKind::send: {
        const IdleRate& rate = rate_of(at(state.group->paths, operation.path));
        const double arrival =
            state.now + rate.latency + operation.amount.count() * rate.seconds_per_byte;
        State& receiver = at(groups_, static_cast<std::int64_t>(index) + operation.peer);
        at(receiver.messages, operation.slot) = {state.now, arrival};
        if (operation.blocking) state.now = arrival;
        return true;
      }
      case OperationKind::receive: {
        const Message& message = at(state.messages, operation.slot);
        if (std::isnan(message.arrived)) return false;
        wait_for(state, message.sent, message.arrived);
        return true;
      }
      case OperationKind::join:
        join(state, operation);
        return true;
      case OperationKind::wait: {
        const Slot& slot = at(state.slots, operation.slot);
        const Instance& instance = at(instances_, slot.communicator)[slot.instance];
        if (std::isnan(instance.end)) return false;
        wait_for(state, instance.ready, instance.end);
        return true;
      }
      case OperationKind::push:
      case OperationKind::pull:
      case OperationKind::advance:
        HEADWAY_CHECK(false, "what servers take is known by simulation only");
    }
    HEADWAY_CHECK(false, "unknown kind of operation");
  }

  void join(State& state, const Operation& operation) {
    const std::int32_t id = at(state.group->communicators, operation.path);
    std::vector<Instance>& instances = at(instances_, id);
    const std::size_t number = at(state.joins, operation.path)++;
    if (instances.size() <= number) instances.resize(number + 1);
    at(state.slots, operation.slot) = {id, number};
    Instance& instance = instances[number];
    instance.ready = std::max(instance.ready, state.now);
    if (++instance.joined < at(present_, id)) return;
    const Communicator& of = at(workload_.communicators, id);
    const IdleRate& rate = rate_of(of.plan + operation.way);
    const double transfer =
        std::max(operation.amount.count() * rate.seconds_per_byte, operation.at_least.count());
    double& last_end = at(last_end_, of.queue >= 0 ? of.queue : id);
    if (is_exchange(of)) {  // a pass waits for it, whatever else is sent
      instance.end = std::max(instance.ready, last_end) + transfer + rate.latency;
      last_end = instance.end;
      return;
    }
    double& free = state.free[rate.crosses_fabric ? 1 : 0];
    const double start = std::max(instance.ready, last_end);
    free = std::max(start, free) + transfer * rate.occupancy;
    instance.end = std::max(start + transfer, free) + rate.latency;
    last_end = instance.end;
  }

  const Workload& workload_;
  const Topology& topology_;
  std::vector<std::optional<IdleRate>> rates_;  ///< by plan, of those that were asked for
  std::vector<State> groups_;
  std::vector<int> present_;  ///< members of each communicator among the groups looked at
  std::vector<std::vector<Instance>> instances_;
  std::vector<double> last_end_;  ///< of the last collective, by queue
  double end_ = 0.0;
};

/// Replicas that wait for each other in their passes, by the first of them: of those with the same
/// programs one, and of sets with the same programs the first.
std::vector<std::set<std::int32_t>> distinct_sets(const Workload& workload) {
  std::map<std::int32_t, std::vector<std::int32_t>> programs;  // by replica, of its stages
  std::map<std::int32_t, std::int32_t> first_of;               // replica of an exchange
  std::map<std::int32_t, std::set<std::int32_t>> sets;
  for (const RankGroup& group : workload.groups) {
    programs[group.replica].push_back(group.program);
    std::int32_t first = group.replica;
    for (const std::int32_t id : group.communicators) {
      if (id < 0 || !is_exchange(at(workload.communicators, id))) continue;
      first = std::min(first, first_of.emplace(id, group.replica).first->second);
    }
    sets[first].insert(group.replica);
  }
  std::vector<std::set<std::int32_t>> distinct;
  std::set<std::set<std::vector<std::int32_t>>> known;
  for (const auto& [unused, replicas] : sets) {
    std::set<std::vector<std::int32_t>> sorts;
    std::set<std::int32_t> one_of_each;
    for (const std::int32_t replica : replicas) {
      if (sorts.insert(programs[replica]).second) one_of_each.insert(replica);
    }
    if (known.insert(std::move(sorts)).second) distinct.push_back(std::move(one_of_each));
  }
  return distinct;
}

}  // namespace

Seconds closed_form_time(const Workload& workload, const Topology& topology,
                         std::span<const double> slowdowns) {
  double slowest = 0.0;
  for (const std::set<std::int32_t>& replicas : distinct_sets(workload)) {
    ClosedForm form(workload, topology, slowdowns, replicas);
    form.run();
    slowest = std::max(slowest, form.end());
  }
  return Seconds(slowest);
}

Seconds nominal_waiting(const Workload& workload, const Topology& topology, std::int32_t group) {
  const RankGroup& of = at(workload.groups, group);
  for (const std::set<std::int32_t>& replicas : distinct_sets(workload)) {
    ClosedForm form(workload, topology, {}, replicas);
    if (!form.has(of.program)) continue;
    form.run();
    return Seconds(form.waiting_of(of.program));
  }
  HEADWAY_CHECK(false, "every program is of some replica");
}

Seconds closed_form_iteration(const Model& model, const Strategy& strategy,
                              const KindProfiles& profiles, const Cluster& cluster,
                              const Placement& placement, const Perturbation& perturbation,
                              KnownCollectives* known) {
  const BuiltWorkload built = build_workload(model, strategy, profiles, cluster, placement,
                                             std::nullopt, WorkloadExtent::one_replica, known);
  const double drawn = median_of_slowest(perturbation.device_spread, strategy.ranks()) *
                       median_of_slowest(perturbation.jitter, built.workload.ranks_per_group);
  std::vector<StageFactors> replicas = slow_replicas(perturbation, placement);
  if (replicas.empty()) {
    replicas.emplace_back(static_cast<std::size_t>(strategy.pipeline_parallel), 1.0);
  }
  Seconds slowest;
  for (StageFactors& factors : replicas) {
    for (double& factor : factors) factor *= drawn;
    slowest = max(slowest, closed_form_time(built.workload, cluster.topology, factors));
  }
  return slowest;
}

}  // namespace headway
