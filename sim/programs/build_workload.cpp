#include "sim/programs/build_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "sim/base/signed_index.h"
#include "sim/jobs/shard_groups.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/exchanges.h"
#include "sim/programs/communicator_prices.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/group_costs.h"
#include "sim/programs/kind_network.h"
#include "sim/programs/laid_out_replicas.h"
#include "sim/programs/replica_exchanges.h"
#include "sim/programs/replica_groups.h"
#include "sim/programs/server_layout.h"
#include "sim/programs/shared_queues.h"
#include "sim/programs/stage_pieces.h"
#include "sim/programs/stage_program.h"
#include "sim/programs/unused_ways.h"
#include "sim/programs/workload_notes.h"

namespace headway {
namespace {

class WorkloadBuilder {
 public:
  WorkloadBuilder(const Model& model, const Strategy& strategy, const KindProfiles& profiles,
                  const Cluster& cluster, const Placement& placement, WorkloadExtent extent,
                  KnownCollectives* known)
      : model_(model),
        strategy_(strategy),
        cluster_(cluster),
        placement_(placement),
        network_(cluster, profiles, strategy.collective_library,
                 extent == WorkloadExtent::whole ? PlanDetail::fabric : PlanDetail::idle_nic,
                 known),
        exchanges_(model, strategy, cluster, placement,
                   known == nullptr ? nullptr : &known->standings()),
        costs_(group_costs(model, strategy, profiles, cluster, exchanges_.classes())) {
    job_.model = &model;
    job_.strategy = &strategy;
    costs_.front().put_into(job_);
    job_.cutting = &costs_.front().stage;
    for (const LayerRange& range : chunk_layers(model, strategy)) {
      job_.layers_of_chunk.push_back(range.count);
    }
    // Collectives of several kinds hide as little, and carry as much, as the worst of them.
    job_.never_hidden = profiles.largest(
        [](const Profile& profile) { return profile.overlap.gradient_reduce_floor.value; });
    job_.interference = profiles.largest(
        [](const Profile& profile) { return profile.overlap.sharded_interference.value; });
    if (gradient_collective(strategy) == CollectiveKind::reduce_scatter) {
      job_.gradient_traffic = profiles.largest([&](const Profile& profile) {
        return profile.kernel_families.at(strategy.kernel_family).gradient_traffic.value;
      });
    }
    micro_batches_ = micro_batches_of_replicas(job_, costs_, exchanges_);
    const bool has_all = extent == WorkloadExtent::whole || strategy.micro_batches_by_speed;
    std::vector<int> all(static_cast<std::size_t>(strategy.data_parallel));
    std::iota(all.begin(), all.end(), 0);
    replicas_ = LaidOutReplicas(has_all ? std::move(all) : exchanges_.distinct_replicas(),
                                strategy.data_parallel, strategy.pipeline_parallel);
  }

  BuiltWorkload built(std::optional<CollectiveAlgorithm> algorithm) && {
    workload_.nic_efficiency = network_.nic_efficiency();
    workload_.ranks_per_group = strategy_.tensor_parallel * strategy_.context_parallel;
    algorithm_ = algorithm;
    exchanged_ = strategy_.synchronisation->exchanges(strategy_);
    if (strategy_.synchronisation->servers() != nullptr) {
      add_served();
      workload_.notes = workload_notes(model_, strategy_, overruled_);
      return {std::move(workload_), widest_cost(costs_)};
    }
    add_groups();
    add_paths();
    if (strategy_.replicas() > 1) add_replica_communicators();
    add_exchange_communicators();
    if (model_.routing() != nullptr && strategy_.expert_replicas() > 1) add_expert_communicators();
    if (exchanges_embedding(job_)) add_embedding_communicators();
    const auto names_of = [&](int replica, int stage) {
      return replicas_.has(replica) ? &communicators_[index(replica, stage)] : nullptr;
    };
    exchanges_.add_communicators(workload_, names_of, network_.detail());
    add_programs();
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
      RankGroup& group = workload_.groups[i];
      const auto program = static_cast<std::size_t>(group.program);
      for (const std::string& name : workload_.programs[program].communicators) {
        group.communicators.push_back(communicators_[i].at(name));
      }
    }
    // Of an idle NIC there is little to drop.
    if (network_.detail() == PlanDetail::fabric) drop_unused_ways(workload_);
    workload_.notes = workload_notes(model_, strategy_, overruled_);
    return {std::move(workload_), widest_cost(costs_)};
  }

 private:
  std::size_t index(int replica, int stage) const { return replicas_.index(replica, stage); }
  RankGroup& group(int replica, int stage) { return workload_.groups[index(replica, stage)]; }
  /// What the program of a group calls `name` is that communicator.
  void join(int replica, int stage, std::string_view name, std::int32_t communicator) {
    communicators_[index(replica, stage)][name] = communicator;
  }

  /// Workers and servers instead of replicas that reduce.
  void add_served() {
    std::optional<PricedCollective> local;
    const int members = accelerators_of_worker(strategy_, cluster_);
    if (members > 1) {
      std::vector<std::int32_t> first(static_cast<std::size_t>(members));
      for (int i = 0; i < members; ++i) {
        first[static_cast<std::size_t>(i)] = placement_.accelerator(0, 0, i, 0);
      }
      local.emplace(cluster_, network_.evidence(0), CollectiveKind::all_reduce,
                    CollectiveGroups{first});
    }
    lay_out_servers({.shape = job_,
                     .profile = *network_.evidence(0).profile,
                     .cluster = cluster_,
                     .placement = placement_,
                     .network = network_.costs(0),
                     .local_reduction = local ? &*local : nullptr},
                    workload_);
  }

  void add_groups() {
    for (const int replica : replicas_.all()) {
      for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
        RankGroup added;
        added.stage = stage;
        added.replica = replica;
        for (int c = 0; c < strategy_.context_parallel; ++c) {
          for (int t = 0; t < strategy_.tensor_parallel; ++t) {
            added.accelerators.push_back(placement_.accelerator(t, c, replica, stage));
          }
        }
        workload_.groups.push_back(std::move(added));
      }
    }
    communicators_.resize(workload_.groups.size());
  }

  /// What has to be alike for rank groups to share a program.
  struct ProgramKey {
    int stage = 0;
    std::size_t ranks = 0;  ///< class of how they stand, and on what
    std::int64_t micro_batches = 1;
    std::vector<int> communicators;  ///< whose prices theirs have: kinds of nodes

    friend auto operator<=>(const ProgramKey&, const ProgramKey&) = default;
  };
  [[nodiscard]] ProgramKey key_of(std::size_t group_index) const {
    const RankGroup& group = workload_.groups[group_index];
    ProgramKey key{.stage = group.stage,
                   .ranks = exchanges_.class_of(group.replica, group.stage),
                   .micro_batches = micro_batches_[static_cast<std::size_t>(group.replica)]};
    if (cluster_.kinds() > 1) key.communicators = prices_.kinds_of(communicators_[group_index]);
    return key;
  }

  /// One for each stage, or where the replicas of a stage differ, for each way to.
  void add_programs() {
    std::map<ProgramKey, std::size_t> first_of;  // rank group with that program
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) first_of.emplace(key_of(i), i);
    std::map<ProgramKey, std::int32_t> known;
    for (const auto& [key, group] : first_of) {
      known.emplace(key, static_cast<std::int32_t>(workload_.programs.size()));
      Strategy share = strategy_;
      share.global_batch = key.micro_batches * share.micro_batch * share.data_parallel;
      job_.strategy = &share;
      costs_[key.ranks].put_into(job_);
      prices_.put_into(job_, communicators_[group]);
      workload_.programs.push_back(share.sharding == Sharding::full && share.pipeline_parallel == 1
                                       ? sharded_program(job_)
                                       : pipeline_program(job_, key.stage));
      add_exchanges(workload_.programs.back(), job_, key.stage, exchanged_);
      // Every stage names its message slots alike, whether it uses them all or not.
      workload_.programs.back().message_slots =
          2 * share.chunks_of_stage() * static_cast<int>(share.micro_batches());
    }
    job_.strategy = &strategy_;
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
      workload_.groups[i].program = known.at(key_of(i));
    }
  }

  std::int32_t add_plan(FlowPlan plan) {
    workload_.plans.push_back(std::move(plan));
    return static_cast<std::int32_t>(workload_.plans.size()) - 1;
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

  /// Whose price the job's programs know by the name `called`.
  std::int32_t add_communicator(std::string name, CollectiveKind kind, int members,
                                std::string_view called, const NamedGroups& groups,
                                std::optional<CollectiveAlgorithm> algorithm = std::nullopt) {
    KindNetwork::Collective found = network_.collective(kind, groups, algorithm);
    overruled_ = overruled_ || found.overruled;
    const auto first = static_cast<std::int32_t>(workload_.plans.size());
    for (const PricedCollective::Way& way : found.price.ways()) add_plan(way.plan);
    workload_.communicators.push_back({std::move(name), kind, members, first});
    const auto id = static_cast<std::int32_t>(workload_.communicators.size()) - 1;
    prices_.add(id, called, std::move(found));
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
        const int id = add_shared(gradient_collective(strategy_), kGradientReduce,
                                  kOtherGradientReduce, stage, first, reducing);
        if (id >= 0) reduces_.emplace(stage, id);
        for (int of = first; of < first + reducing; of += sharing) {
          if (strategy_.sharding == Sharding::none) continue;
          add_shared(parameter_collective(strategy_), kParameterGather, kOtherParameterGather,
                     stage, of, sharing, sharing == reducing ? id : -1);
        }
        if (!gathers_sums(strategy_.compression)) continue;
        add_shared(CollectiveKind::all_gather, kCompressedGather, {}, stage, first, reducing, id);
      }
      if (reducing < strategy_.island_data_parallel()) add_copy_communicators(stage, reducing);
    }
  }

  /// Of some replicas of a stage and, as `other`, of the stage opposite; in the queue of `reduce`.
  int add_shared(CollectiveKind kind, std::string_view called, std::string_view other, int stage,
                 int first, int members, int reduce = -1) {
    const int joining = is_doubled() ? 2 * members : members;
    const bool is_alone = joining * strategy_.context_parallel == 1;
    if (is_alone || !replicas_.has_any(first, first + members, 1)) return -1;
    const int id =
        add_communicator(fmt::format("{}, stage {}", called, stage), kind, joining, called,
                         replica_groups(strategy_, placement_, stage, first, members),
                         called == kGradientReduce ? asked(kind) : std::nullopt);
    if (reduce >= 0) share_queue(workload_, reduce, id);
    for (int replica = first; replica < first + members; ++replica) {
      if (!replicas_.has(replica)) continue;
      join(replica, stage, called, id);
      if (is_doubled() && !other.empty()) join(replica, opposite(stage), other, id);
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

  /// Of what replicas exchange of what they learned: the ranks at the same place in every island,
  /// or those of an island.
  void add_exchange_communicators() {
    const int of_island = strategy_.island_data_parallel();
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      for (const ReplicaExchange& exchange : exchanged_) {
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

  /// Of every `step`-th replica from `first` to before `end`. In an iteration there is but a share
  /// of it, of its latency too.
  void add_exchange(const ReplicaExchange& exchange, int stage, int first, int end, int step,
                    const NamedGroups& groups) {
    if (!replicas_.has_any(first, end, step)) return;
    const std::size_t plans_before = workload_.plans.size();
    const std::int32_t id = add_communicator(fmt::format("{}, stage {}", exchange.name, stage),
                                             exchange.kind, (end - first + step - 1) / step,
                                             exchange.name, groups, asked(exchange.kind));
    for (std::size_t plan = plans_before; plan < workload_.plans.size(); ++plan) {
      workload_.plans[plan].latency = exchange.times * workload_.plans[plan].latency;
    }
    for (int replica = first; replica < end; replica += step) {
      if (replicas_.has(replica)) join(replica, stage, exchange.name, id);
    }
  }

  /// The algorithm that the run asks for, where the kind has it.
  [[nodiscard]] std::optional<CollectiveAlgorithm> asked(CollectiveKind kind) const {
    return algorithm_ && has_algorithm(kind, *algorithm_) ? algorithm_ : std::nullopt;
  }

  void add_expert_communicators() {
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      const NamedGroups groups = expert_groups(strategy_, placement_, stage);
      const std::string where = ", stage " + std::to_string(stage);
      const auto add = [&](const char* words, CollectiveKind kind, std::string_view called) {
        const int id = add_communicator(words + where, kind, strategy_.data_parallel, called,
                                        groups, asked(kind));
        for (const int replica : replicas_.all()) join(replica, stage, called, id);
        return id;
      };
      const int reduce_id =
          add("expert gradient reduce", gradient_collective(strategy_), kExpertReduce);
      if (strategy_.sharding != Sharding::none) {
        share_queue(workload_, reduce_id,
                    add("expert parameter gather", parameter_collective(strategy_), kExpertGather));
      }
      const auto [first, last] = reduces_.equal_range(stage);
      for (auto of = first; of != last; ++of) share_ports(workload_, of->second, reduce_id);
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

  const Model& model_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  const Placement& placement_;
  KindNetwork network_;
  std::vector<ReplicaExchange> exchanged_;  ///< of what replicas learned
  std::optional<CollectiveAlgorithm> algorithm_;
  bool overruled_ = false;  ///< the library does not have that somewhere
  ExchangeLayout exchanges_;
  std::vector<GroupCosts> costs_;            ///< by class of how groups stand, and on what
  std::vector<std::int64_t> micro_batches_;  ///< by replica
  LaidOutReplicas replicas_;
  JobShape job_;
  CommunicatorPrices prices_;
  std::multimap<int, std::int32_t> reduces_;               ///< communicators of gradients, by stage
  std::vector<CommunicatorPrices::Joined> communicators_;  ///< by group
  Workload workload_;
};

}  // namespace

BuiltWorkload build_workload(const Model& model, const Strategy& strategy,
                             const KindProfiles& profiles, const Cluster& cluster,
                             const Placement& placement,
                             std::optional<CollectiveAlgorithm> algorithm, WorkloadExtent extent,
                             KnownCollectives* known) {
  return WorkloadBuilder(model, strategy, profiles, cluster, placement, extent, known)
      .built(algorithm);
}

}  // namespace headway
