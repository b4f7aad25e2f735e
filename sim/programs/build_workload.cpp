#include "sim/programs/build_workload.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/exchanges.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/parameters.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/flows/collective_price.h"
#include "sim/programs/local_steps.h"
#include "sim/programs/parameter_server.h"
#include "sim/programs/replica_groups.h"
#include "sim/programs/stage_costs/optimizer_cost.h"
#include "sim/programs/stage_program.h"
#include "sim/programs/unused_ways.h"
#include "sim/programs/workload_notes.h"

namespace headway {
namespace {

constexpr int kNotLaidOut = -1;

class WorkloadBuilder {
 public:
  WorkloadBuilder(const Model& model, const Strategy& strategy, const Profile& profile,
                  const Cluster& cluster, const Placement& placement, WorkloadExtent extent)
      : model_(model),
        strategy_(strategy),
        cluster_(cluster),
        placement_(placement),
        evidence_{.library = strategy.collective_library, .profile = &profile},
        network_(scope_costs(cluster, evidence_)),
        detail_(extent == WorkloadExtent::whole ? PlanDetail::fabric : PlanDetail::idle_nic),
        exchanges_(model, strategy, cluster, placement) {
    job_.model = &model;
    job_.strategy = &strategy;
    for (const ExchangePlaces& places : exchanges_.classes()) {
      costs_.push_back(stage_cost(model, strategy, profile, cluster, places));
    }
    job_.cost = costs_.front();
    if (extent == WorkloadExtent::whole) {
      for (int replica = 0; replica < strategy.data_parallel; ++replica)
        replicas_.push_back(replica);
    } else {
      replicas_ = exchanges_.distinct_replicas();
    }
    place_of_.assign(static_cast<std::size_t>(strategy.data_parallel), kNotLaidOut);
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      place_of_[static_cast<std::size_t>(replicas_[i])] = static_cast<int>(i);
    }
    for (const LayerRange& range : chunk_layers(model, strategy)) {
      job_.layers_of_chunk.push_back(range.count);
    }
    job_.never_hidden = profile.overlap.gradient_reduce_floor.value;
    job_.interference = profile.overlap.sharded_interference.value;
    const KernelFamily& family = profile.kernel_families.at(strategy.kernel_family);
    if (strategy.sharding != Sharding::none) job_.gradient_traffic = family.gradient_traffic.value;
    job_.memory_seconds_per_byte = 1.0 / streaming_rate(profile).count();
    const double tensor = largest_tensor(model, rank_shape_of(strategy));
    job_.optimizer_seconds_per_parameter =
        optimizer_time(profile, strategy, 0.0, 1.0, tensor).count();
    job_.norm_seconds_per_parameter = optimizer_time(profile, strategy, 1.0, 0.0, tensor).count();
  }

  BuiltWorkload built(std::optional<CollectiveAlgorithm> algorithm) && {
    workload_.nic_efficiency = network_.scale_out_efficiency;
    workload_.ranks_per_group = strategy_.tensor_parallel * strategy_.context_parallel;
    algorithm_ = algorithm;
    if (strategy_.synchronisation.by_servers()) {
      add_served();
      workload_.notes = workload_notes(model_, strategy_, overruled_);
      return {std::move(workload_), costs_.front()};
    }
    add_groups();
    add_paths();
    if (strategy_.replicas() > 1) add_replica_communicators();
    if (strategy_.islands() > 1) add_island_communicators();
    if (model_.routing() != nullptr && strategy_.expert_replicas() > 1) add_expert_communicators();
    if (exchanges_embedding(job_)) add_embedding_communicators();
    const auto names_of = [&](int replica, int stage) {
      return is_laid_out(replica) ? &communicators_[index(replica, stage)] : nullptr;
    };
    exchanges_.add_communicators(workload_, names_of, detail_);
    add_programs();
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
      RankGroup& group = workload_.groups[i];
      const auto program = static_cast<std::size_t>(group.program);
      for (const std::string& name : workload_.programs[program].communicators) {
        group.communicators.push_back(communicators_[i].at(name));
      }
    }
    drop_unused_ways(workload_);
    workload_.notes = workload_notes(model_, strategy_, overruled_);
    return {std::move(workload_), costs_.front()};
  }

 private:
  [[nodiscard]] std::size_t index(int replica, int stage) const {
    const int place = place_of_[static_cast<std::size_t>(replica)];
    return static_cast<std::size_t>(place * strategy_.pipeline_parallel + stage);
  }
  [[nodiscard]] bool is_laid_out(int replica) const {
    return place_of_[static_cast<std::size_t>(replica)] != kNotLaidOut;
  }
  /// Of every `step`-th replica from `first` to before `end`.
  [[nodiscard]] bool is_any_laid_out(int first, int end, int step) const {
    for (int replica = first; replica < end; replica += step) {
      if (is_laid_out(replica)) return true;
    }
    return false;
  }
  [[nodiscard]] RankGroup& group(int replica, int stage) {
    return workload_.groups[index(replica, stage)];
  }
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
      local.emplace(cluster_, evidence_, CollectiveKind::all_reduce, CollectiveGroups{first});
    }
    lay_out_servers({.shape = job_,
                     .profile = *evidence_.profile,
                     .cluster = cluster_,
                     .placement = placement_,
                     .network = network_,
                     .local_reduction = local ? &*local : nullptr},
                    workload_);
  }

  void add_groups() {
    for (const int replica : replicas_) {
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

  /// One for each stage, or where the replicas of a stage stand differently, for each way to stand.
  void add_programs() {
    std::map<std::pair<int, std::size_t>, std::int32_t> known;  // by stage and class
    for (const RankGroup& group : workload_.groups) {
      known.emplace(std::pair(group.stage, exchanges_.class_of(group.replica, group.stage)), 0);
    }
    for (auto& [which, program] : known) {
      const auto& [stage, way_to_stand] = which;
      program = static_cast<std::int32_t>(workload_.programs.size());
      job_.cost = costs_[way_to_stand];
      workload_.programs.push_back(strategy_.sharding == Sharding::full &&
                                           strategy_.pipeline_parallel == 1
                                       ? sharded_program(job_)
                                       : pipeline_program(job_, stage));
      if (strategy_.islands() > 1) add_average(workload_.programs.back(), job_, stage);
      // Every stage names its message slots alike, whether it uses them all or not.
      workload_.programs.back().message_slots =
          2 * strategy_.chunks_of_stage() * static_cast<int>(strategy_.micro_batches());
    }
    for (RankGroup& group : workload_.groups) {
      group.program = known.at({group.stage, exchanges_.class_of(group.replica, group.stage)});
    }
  }

  std::int32_t add_plan(FlowPlan plan) {
    workload_.plans.push_back(std::move(plan));
    return static_cast<std::int32_t>(workload_.plans.size()) - 1;
  }

  /// The largest that one stage hands to the next.
  [[nodiscard]] Bytes largest_stage_message() const {
    const RankShape shape = rank_shape_of(strategy_);
    Bytes largest;
    int behind = 0;
    for (const int layers : job_.layers_of_chunk) {
      behind += layers;
      if (layers > 0 && behind < model_.layer_count()) {
        largest = max(largest, stage_message(model_.layer(behind - 1), shape));
      }
    }
    return largest;
  }

  void add_paths() {
    const int stages = strategy_.pipeline_parallel;
    if (stages == 1) return;
    const Bytes message = largest_stage_message();
    for (const int replica : replicas_) {
      for (int stage = 0; stage < stages; ++stage) {
        RankGroup& from = group(replica, stage);
        for (const int other : {(stage + 1) % stages, (stage + stages - 1) % stages}) {
          FlowPlan plan = transfer_plan(cluster_, network_, from.accelerators,
                                        group(replica, other).accelerators, detail_);
          take_measured_time(plan, cluster_, evidence_, message);
          from.paths.push_back(add_plan(std::move(plan)));
        }
      }
    }
  }

  [[nodiscard]] bool is_doubled() const { return strategy_.schedule->is_doubled(); }
  [[nodiscard]] int opposite(int stage) const { return strategy_.pipeline_parallel - 1 - stage; }

  /// Whose price the job's programs know by the name `called`.
  std::int32_t add_communicator(std::string name, CollectiveKind kind, int members,
                                std::string_view called, const CollectiveGroups& groups,
                                std::optional<CollectiveAlgorithm> algorithm = std::nullopt) {
    PricedCollective prices(cluster_, evidence_, kind, groups, algorithm, detail_);
    if (prices.ways().empty()) {  // NCCL has no such algorithm here
      overruled_ = true;
      prices = PricedCollective(cluster_, evidence_, kind, groups, std::nullopt, detail_);
    }
    const auto first = static_cast<std::int32_t>(workload_.plans.size());
    for (const PricedCollective::Way& way : prices.ways()) add_plan(way.plan);
    job_.prices.insert_or_assign(called, std::move(prices));
    workload_.communicators.push_back({std::move(name), kind, members, first});
    return static_cast<std::int32_t>(workload_.communicators.size()) - 1;
  }

  /// Those that share out the states of a stage reduce and gather together: all, or with copies of
  /// fully sharded parameters each consecutive `shard_group` of ranks.
  void add_replica_communicators() {
    const int members = is_doubled() ? strategy_.data_parallel
                                     : strategy_.shard_ranks() / strategy_.context_parallel;
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      const std::string where = "stage " + std::to_string(stage);
      for (int first = 0; first < strategy_.data_parallel; first += members) {
        if (strategy_.shard_ranks() == 1 || !is_any_laid_out(first, first + members, 1)) continue;
        add_sharing_communicators(where, replicas_of(strategy_, placement_, stage, first, members),
                                  stage, first, members);
      }
      if (members < strategy_.island_data_parallel()) add_copy_communicators(where, stage, members);
    }
  }

  void add_sharing_communicators(const std::string& where, const CollectiveGroups& groups,
                                 int stage, int first, int members) {
    const int joining = is_doubled() ? 2 * members : members;
    const CollectiveKind reduce = gradient_collective(strategy_);
    const std::int32_t reduce_id = add_communicator("gradient reduce, " + where, reduce, joining,
                                                    kGradientReduce, groups, asked(reduce));
    const auto gathered_by = [&](const char* words, std::string_view called) {
      return add_communicator(words + where, CollectiveKind::all_gather, joining, called, groups);
    };
    const bool shards = strategy_.sharding != Sharding::none;
    const bool sums = gathers_sums(strategy_.compression);
    const int gather_id = shards ? gathered_by("parameter gather, ", kParameterGather) : -1;
    const int compressed_id = sums ? gathered_by("compressed gather, ", kCompressedGather) : -1;
    for (int replica = first; replica < first + members; ++replica) {
      if (!is_laid_out(replica)) continue;
      join(replica, stage, kCompressedGather, compressed_id);
      join(replica, stage, kGradientReduce, reduce_id);
      join(replica, stage, kParameterGather, gather_id);
      if (!is_doubled()) continue;
      join(replica, opposite(stage), kOtherGradientReduce, reduce_id);
      join(replica, opposite(stage), kOtherParameterGather, gather_id);
    }
  }

  /// The ranks that hold the same part of each copy.
  void add_copy_communicators(const std::string& where, int stage, int members) {
    for (int offset = 0; offset < members; ++offset) {
      if (!is_any_laid_out(offset, strategy_.data_parallel, members)) continue;
      const std::int32_t id =
          add_communicator("gradient reduce between copies, " + where, CollectiveKind::all_reduce,
                           strategy_.data_parallel / members, kReplicaReduce,
                           copies_of(strategy_, placement_, stage, offset, members),
                           asked(CollectiveKind::all_reduce));
      for (int replica = offset; replica < strategy_.data_parallel; replica += members) {
        if (is_laid_out(replica)) join(replica, stage, kReplicaReduce, id);
      }
    }
  }

  /// The ranks at the same place in every island; and an island's, where each has but a part of
  /// what was averaged. In an iteration there is but a share of each, its latency too.
  void add_island_communicators() {
    const int of_island = strategy_.island_data_parallel();
    const Synchronisation& how = strategy_.synchronisation;
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      const std::string where = "stage " + std::to_string(stage);
      for (int offset = 0; offset < of_island; ++offset) {
        if (!is_any_laid_out(offset, strategy_.data_parallel, of_island)) continue;
        const std::int32_t id =
            add_seldom("average of islands, " + where, CollectiveKind::all_reduce,
                       strategy_.islands(), kIslandAverage,
                       copies_of(strategy_, placement_, stage, offset, of_island), how.averages());
        for (int replica = offset; replica < strategy_.data_parallel; replica += of_island) {
          if (is_laid_out(replica)) join(replica, stage, kIslandAverage, id);
        }
      }
      for (int first = 0; first < strategy_.data_parallel; first += of_island) {
        if (!gathers_average(strategy_) || !is_any_laid_out(first, first + of_island, 1)) continue;
        const std::int32_t id = add_seldom(
            "average in an island, " + where, CollectiveKind::all_gather, of_island, kIslandGather,
            replicas_of(strategy_, placement_, stage, first, of_island), how.averages());
        for (int replica = first; replica < first + of_island; ++replica) {
          if (is_laid_out(replica)) join(replica, stage, kIslandGather, id);
        }
      }
    }
  }

  /// One that runs `times` an iteration, on average.
  std::int32_t add_seldom(std::string name, CollectiveKind kind, int members,
                          std::string_view called, const CollectiveGroups& groups, double times) {
    const std::size_t first = workload_.plans.size();
    const std::int32_t id =
        add_communicator(std::move(name), kind, members, called, groups, asked(kind));
    for (std::size_t plan = first; plan < workload_.plans.size(); ++plan) {
      workload_.plans[plan].latency = times * workload_.plans[plan].latency;
    }
    return id;
  }

  /// The algorithm that the run asks for, where the kind has it.
  [[nodiscard]] std::optional<CollectiveAlgorithm> asked(CollectiveKind kind) const {
    return algorithm_ && has_algorithm(kind, *algorithm_) ? algorithm_ : std::nullopt;
  }

  void add_expert_communicators() {
    for (int stage = 0; stage < strategy_.pipeline_parallel; ++stage) {
      const CollectiveGroups groups = expert_replicas_of(strategy_, placement_, stage);
      const std::string where = "stage " + std::to_string(stage);
      const auto add = [&](const std::string& name, CollectiveKind kind, std::string_view called) {
        const std::int32_t id = add_communicator(name + where, kind, strategy_.data_parallel,
                                                 called, groups, asked(kind));
        for (const int replica : replicas_) join(replica, stage, called, id);
      };
      add("expert gradient reduce, ", gradient_collective(strategy_), kExpertReduce);
      if (strategy_.sharding != Sharding::none) {
        add("expert parameter gather, ", CollectiveKind::all_gather, kExpertGather);
      }
    }
  }

  void add_embedding_communicators() {
    const int last = strategy_.pipeline_parallel - 1;
    for (const int replica : replicas_) {
      CollectiveGroups groups;
      for (std::size_t i = 0; i < group(replica, 0).accelerators.size(); ++i) {
        groups.push_back({group(replica, 0).accelerators[i], group(replica, last).accelerators[i]});
      }
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
  PriceEvidence evidence_;
  NetworkCosts network_;  ///< of transfers between stages
  std::optional<CollectiveAlgorithm> algorithm_;
  bool overruled_ = false;  ///< the library does not have that somewhere
  PlanDetail detail_;
  ExchangeLayout exchanges_;
  std::vector<StageCost> costs_;  ///< by class of where groups stand
  std::vector<int> replicas_;     ///< that are laid out
  std::vector<int> place_of_;     ///< of each replica among them
  JobShape job_;
  std::vector<std::map<std::string_view, std::int32_t>> communicators_;  ///< by group, then name
  Workload workload_;
};

}  // namespace

BuiltWorkload build_workload(const Model& model, const Strategy& strategy, const Profile& profile,
                             const Cluster& cluster, const Placement& placement,
                             std::optional<CollectiveAlgorithm> algorithm, WorkloadExtent extent) {
  return WorkloadBuilder(model, strategy, profile, cluster, placement, extent).built(algorithm);
}

}  // namespace headway
