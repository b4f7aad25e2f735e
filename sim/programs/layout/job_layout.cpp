#include "sim/programs/layout/job_layout.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "sim/base/index.h"
#include "sim/jobs/shard_groups.h"
#include "sim/programs/layout/laid_out_replicas.h"
#include "sim/programs/layout/replica_groups.h"
#include "sim/programs/pieces/chunk_neighbours.h"
#include "sim/programs/pieces/replica_messages.h"
#include "sim/programs/shared_queues.h"

namespace headway {
namespace {

class LayoutBuilder {
 public:
  LayoutBuilder(const JobShape& job, const Cluster& cluster, const Placement& placement,
                const KindNetwork& network, const ExchangeLayout& exchanges,
                std::optional<CollectiveAlgorithm> algorithm)
      : job_(job),
        model_(*job.model),
        strategy_(*job.strategy),
        cluster_(cluster),
        placement_(placement),
        network_(network),
        exchanges_(exchanges),
        algorithm_(algorithm) {
    const bool has_all = network.detail() == PlanDetail::fabric || strategy_.micro_batches_by_speed;
    std::vector<int> all(static_cast<std::size_t>(strategy_.data_parallel));
    std::iota(all.begin(), all.end(), 0);
    replicas_ = LaidOutReplicas(has_all ? std::move(all) : exchanges.distinct_replicas(),
                                strategy_.data_parallel, strategy_.pipeline_parallel);
  }

  JobLayout built() && {
    layout_.exchanged = strategy_.synchronisation->exchanges(strategy_);
    layout_.workload.nic_efficiency = network_.nic_efficiency();
    layout_.workload.ranks_per_group = strategy_.tensor_parallel * strategy_.context_parallel;
    if (strategy_.synchronisation->servers() != nullptr) return std::move(layout_);
    add_groups();
    add_paths();
    if (strategy_.replicas() > 1) add_replica_communicators();
    add_exchange_communicators();
    if (model_.routing() != nullptr && strategy_.expert_replicas() > 1) add_expert_communicators();
    if (exchanges_embedding(job_)) add_embedding_communicators();
    const auto names_of = [&](int replica, int stage) {
      return replicas_.has(replica) ? &layout_.joined[index(replica, stage)] : nullptr;
    };
    exchanges_.add_communicators(layout_.workload, names_of, network_.detail());
    return std::move(layout_);
  }

 private:
  std::size_t index(int replica, int stage) const { return replicas_.index(replica, stage); }
  RankGroup& group(int replica, int stage) {
    return layout_.workload.groups[index(replica, stage)];
  }
  /// What the program of a group calls `name` is that communicator.
  void join(int replica, int stage, std::string_view name, std::int32_t communicator) {
    layout_.joined[index(replica, stage)][name] = communicator;
  }

  void add_groups() {
    for (const int replica : replicas_.all()) {
      for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
        RankGroup added;
        added.stage = stage;
        added.replica = replica;
        if (strategy_.islands() > 1) {
          added.local = {
              .steps = strategy_.synchronisation->steps_apart(),
              .place = replica % strategy_.island_data_parallel(),
              .meets_others = strategy_.island_data_parallel() * strategy_.pipeline_parallel > 1};
        }
        for (int c = 0; c < strategy_.context_parallel; ++c) {
          for (int t = 0; t < strategy_.tensor_parallel; ++t) {
            added.accelerators.push_back(placement_.accelerator(t, c, replica, stage));
          }
        }
        layout_.workload.groups.push_back(std::move(added));
      }
    }
    layout_.joined.resize(layout_.workload.groups.size());
  }

  std::int32_t add_plan(FlowPlan plan) {
    layout_.workload.plans.push_back(std::move(plan));
    return static_cast<std::int32_t>(layout_.workload.plans.size()) - 1;
  }

  void add_paths() {
    const int stages = strategy_.pipeline_parallel;
    if (stages == 1) return;
    const Bytes message = largest_passed_on(job_);
    for (const int replica : replicas_.all()) {
      for (int stage = 0; stage < stages; ++stage) {
        RankGroup& from = group(replica, stage);
        for (const int other : {(stage + 1) % stages, (stage + stages - 1) % stages}) {
          from.paths.push_back(add_plan(
              network_.transfer(from.accelerators, group(replica, other).accelerators, message)));
        }
      }
    }
  }

  [[nodiscard]] bool is_doubled() const { return strategy_.schedule->is_doubled(); }
  [[nodiscard]] int opposite(int stage) const { return strategy_.pipeline_parallel - 1 - stage; }

  /// Adds a communicator whose price the job's programs know by the name `called`.
  std::int32_t add_communicator(std::string name, CollectiveKind kind, int members,
                                std::string_view called, const NamedGroups& groups,
                                std::optional<CollectiveAlgorithm> algorithm = std::nullopt) {
    KindNetwork::Collective found = network_.collective(kind, groups, algorithm);
    layout_.overruled = layout_.overruled || found.overruled;
    const auto first = static_cast<std::int32_t>(layout_.workload.plans.size());
    const double sent = is_of_updates(called) ? 1.0 / job_.gradient_traffic : 1.0;
    for (const PricedCollective::Way& way : found.price.ways()) {
      at(layout_.workload.plans, add_plan(way.plan)).sent = sent;
    }
    layout_.workload.communicators.push_back({std::move(name), kind, members, first});
    const auto id = static_cast<std::int32_t>(layout_.workload.communicators.size()) - 1;
    layout_.prices.add(id, called, std::move(found));
    return id;
  }

  /// Those that share out the states of a stage reduce and gather together: all, or with copies of
  /// fully sharded parameters each `shard_group` of ranks. Groups of the optimizer gather apart.
  void add_replica_communicators() {
    const int sharing = is_doubled() ? strategy_.data_parallel
                                     : strategy_.shard_ranks() / strategy_.context_parallel;
    const int reducing = shards_optimizer_in_groups(strategy_) ? strategy_.data_parallel : sharing;
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      for (int first = 0; first < strategy_.data_parallel; first += reducing) {
        const int id =
            add_shared(gradient_collective(strategy_), kGradientReduce, stage, first, reducing);
        if (id >= 0) reduces_.emplace(stage, id);
        for (int of = first; of < first + reducing; of += sharing) {
          if (strategy_.sharding == Sharding::none) continue;
          add_shared(parameter_collective(strategy_), kParameterGather, stage, of, sharing,
                     sharing == reducing ? id : -1);
        }
        if (!gathers_sums(strategy_.compression)) continue;
        add_shared(CollectiveKind::all_gather, kCompressedGather, stage, first, reducing, id);
      }
      if (reducing < strategy_.island_data_parallel()) add_copy_communicators(stage, reducing);
    }
  }

  /// Adds a communicator of some replicas of a stage and, in another copy, of the stage opposite;
  /// in the queue of `reduce`.
  int add_shared(CollectiveKind kind, std::string_view called, int stage, int first, int members,
                 int reduce = -1) {
    const int joining = strategy_.copies() * members;
    const bool is_alone = joining * strategy_.context_parallel == 1;
    if (is_alone || !replicas_.has_any(first, first + members, 1)) return -1;
    const int id =
        add_communicator(fmt::format("{}, stage {}", called, stage), kind, joining, called,
                         replica_groups(strategy_, placement_, stage, first, members),
                         called == kGradientReduce ? asked(kind) : std::nullopt);
    if (reduce >= 0) share_queue(layout_.workload, reduce, id);
    for (int replica = first; replica < first + members; ++replica) {
      if (!replicas_.has(replica)) continue;
      join(replica, stage, called, id);
      if (is_doubled() && !of_other_copy(called).empty()) {
        join(replica, opposite(stage), of_other_copy(called), id);
      }
    }
    return id;
  }

  /// The ranks that hold the same part of each copy.
  void add_copy_communicators(int stage, int members) {
    for (int offset = 0; offset < members; ++offset) {
      if (!replicas_.has_any(offset, strategy_.data_parallel, members)) continue;
      const std::int32_t id = add_communicator(
          fmt::format("{}, stage {}", kReplicaReduce, stage), CollectiveKind::all_reduce,
          strategy_.data_parallel / members, kReplicaReduce,
          copy_groups(strategy_, placement_, stage, offset, members),
          asked(CollectiveKind::all_reduce));
      for (int replica = offset; replica < strategy_.data_parallel; replica += members) {
        if (replicas_.has(replica)) join(replica, stage, kReplicaReduce, id);
      }
    }
  }

  /// Adds those in which replicas exchange what they learned: of the ranks at the same place in
  /// every island, or of those of an island.
  void add_exchange_communicators() {
    const int of_island = strategy_.island_data_parallel();
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      for (const ReplicaExchange& exchange : layout_.exchanged) {
        if (exchange.among == ExchangeAmong::islands) {
          for (int offset = 0; offset < of_island; ++offset) {
            add_exchange(exchange, stage, offset, strategy_.data_parallel, of_island,
                         copy_groups(strategy_, placement_, stage, offset, of_island));
          }
        } else {
          for (int first = 0; first < strategy_.data_parallel; first += of_island) {
            add_exchange(exchange, stage, first, first + of_island, 1,
                         replica_groups(strategy_, placement_, stage, first, of_island));
          }
        }
      }
    }
  }

  /// Adds the communicator of every `step`-th replica from `first` to before `end`. An iteration
  /// has but a share of it, of its latency too.
  void add_exchange(const ReplicaExchange& exchange, int stage, int first, int end, int step,
                    const NamedGroups& groups) {
    if (!replicas_.has_any(first, end, step)) return;
    const std::size_t plans_before = layout_.workload.plans.size();
    const std::int32_t id = add_communicator(fmt::format("{}, stage {}", exchange.name, stage),
                                             exchange.kind, (end - first + step - 1) / step,
                                             exchange.name, groups, asked(exchange.kind));
    for (std::size_t plan = plans_before; plan < layout_.workload.plans.size(); ++plan) {
      layout_.workload.plans[plan].latency = exchange.times * layout_.workload.plans[plan].latency;
    }
    for (int replica = first; replica < end; replica += step) {
      if (replicas_.has(replica)) join(replica, stage, exchange.name, id);
    }
  }

  /// The algorithm that the run asks for, where the kind has it.
  [[nodiscard]] std::optional<CollectiveAlgorithm> asked(CollectiveKind kind) {
    if (!algorithm_ || has_algorithm(kind, *algorithm_)) return algorithm_;
    layout_.overruled = true;
    return std::nullopt;
  }

  void add_expert_communicators() {
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      const NamedGroups groups = expert_groups(strategy_, placement_, stage);
      const std::string where = ", stage " + std::to_string(stage);
      const auto add = [&](CollectiveKind kind, std::string_view called) {
        const int id = add_communicator(std::string(called) + where, kind,
                                        strategy_.copies() * strategy_.data_parallel, called,
                                        groups, asked(kind));
        for (const int replica : replicas_.all()) {
          join(replica, stage, called, id);
          if (is_doubled()) join(replica, opposite(stage), of_other_copy(called), id);
        }
        return id;
      };
      const int reduce_id = add(gradient_collective(strategy_), kExpertReduce);
      if (strategy_.sharding != Sharding::none) {
        share_queue(layout_.workload, reduce_id,
                    add(parameter_collective(strategy_), kExpertGather));
      }
      const auto [first, last] = reduces_.equal_range(stage);
      for (auto of = first; of != last; ++of) share_ports(layout_.workload, of->second, reduce_id);
    }
  }

  void add_embedding_communicators() {
    const int last = strategy_.pipeline_parallel - 1;
    for (const int replica : replicas_.all()) {
      const NamedGroups groups = end_groups(strategy_, placement_, replica);
      const std::int32_t id = add_communicator("tied embedding, replica " + std::to_string(replica),
                                               CollectiveKind::all_reduce, 2, kTiedEmbedding,
                                               groups, asked(CollectiveKind::all_reduce));
      join(replica, 0, kTiedEmbedding, id);
      join(replica, last, kTiedEmbedding, id);
    }
  }

  const JobShape& job_;
  const Model& model_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  const Placement& placement_;
  const KindNetwork& network_;
  const ExchangeLayout& exchanges_;
  std::optional<CollectiveAlgorithm> algorithm_;
  LaidOutReplicas replicas_;
  std::multimap<int, std::int32_t> reduces_;  ///< communicators of gradients, by stage
  JobLayout layout_;
};

}  // namespace

JobLayout laid_out(const JobShape& job, const Cluster& cluster, const Placement& placement,
                   const KindNetwork& network, const ExchangeLayout& exchanges,
                   std::optional<CollectiveAlgorithm> algorithm) {
  return LayoutBuilder(job, cluster, placement, network, exchanges, algorithm).built();
}

}  // namespace headway
