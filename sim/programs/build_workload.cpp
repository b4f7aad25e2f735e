#include "sim/programs/build_workload.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/base/index.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/group_costs.h"
#include "sim/programs/kind_network.h"
#include "sim/programs/known_jobs.h"
#include "sim/programs/pieces/replica_messages.h"
#include "sim/programs/pipeline/short_program.h"
#include "sim/programs/pipeline/written_out.h"
#include "sim/programs/replica_exchanges.h"
#include "sim/programs/server_layout.h"
#include "sim/programs/stage_program.h"
#include "sim/programs/unused_ways.h"
#include "sim/programs/workload_notes.h"

namespace headway {
namespace {

class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(const JobToBuild& job)
      : model_(job.model),
        strategy_(job.strategy),
        cluster_(job.cluster),
        placement_(job.placement),
        algorithm_(job.algorithm),
        network_(job.cluster, job.profiles, job.strategy.collective_library,
                 job.extent == WorkloadExtent::whole ? PlanDetail::fabric : PlanDetail::idle_nic,
                 job.known == nullptr ? nullptr : &job.known->collectives),
        exchanges_(job.model, job.strategy, job.cluster, job.placement,
                   job.known == nullptr ? nullptr : &job.known->standings),
        known_(job.known == nullptr ? own_ : *job.known) {
    known_costs_ = known_.costs.of(model_, strategy_, exchanges_.classes(), [&] {
      return group_costs(model_, strategy_, job.profiles, cluster_, exchanges_.classes());
    });
    shape_job(job.profiles);
    micro_batches_ =
        micro_batches_of_replicas(job_, costs(), exchanges_, [&](int replica, int stage) {
          return job.slow_accelerators == nullptr
                     ? 1.0
                     : slowest_of(*job.slow_accelerators, replica, stage);
        });
  }

  BuiltWorkload built() && {
    lay_out();
    if (strategy_.synchronisation->servers() != nullptr) {
      add_served();
    } else {
      add_programs();
      for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
        RankGroup& group = workload_.groups[i];
        const std::vector<std::string>& names = at(workload_.programs, group.program).communicators;
        group.communicators.reserve(names.size());
        for (const std::string& name : names) {
          group.communicators.push_back(layout_->joined[i].at(name));
        }
      }
      // An idle NIC has little to drop.
      if (network_.detail() == PlanDetail::fabric) drop_unused_ways(workload_);
    }
    workload_.notes = workload_notes(model_, strategy_, layout_->overruled);
    return {std::move(workload_), widest_cost(costs())};
  }

 private:
  [[nodiscard]] double slowest_of(const std::map<int, double>& listed, int replica,
                                  int stage) const {
    double slowest = 0.0;
    for (int c = 0; c < strategy_.context_parallel; ++c) {
      for (int t = 0; t < strategy_.tensor_parallel; ++t) {
        const auto found = listed.find(placement_.accelerator(t, c, replica, stage));
        slowest = std::max(slowest, found == listed.end() ? 1.0 : found->second);
      }
    }
    return slowest;
  }
  [[nodiscard]] const std::vector<GroupCosts>& costs() const { return *known_costs_; }

  void shape_job(const KindProfiles& profiles) {
    job_.model = &model_;
    job_.strategy = &strategy_;
    costs().front().put_into(job_);
    job_.cutting = &costs().front().stage;
    job_.layers_of_chunk.reserve(static_cast<std::size_t>(strategy_.chunks()));
    for (const LayerRange& range : chunk_layers(model_, strategy_)) {
      job_.layers_of_chunk.push_back(range.count);
    }
    // Collectives of several kinds hide as little, and carry as much, as the worst of them.
    job_.never_hidden = profiles.largest(
        [](const Profile& profile) { return profile.overlap.gradient_reduce_floor.value; });
    job_.interference = profiles.largest(
        [](const Profile& profile) { return profile.overlap.sharded_interference.value; });
    if (gradient_collective(strategy_) == CollectiveKind::reduce_scatter) {
      job_.gradient_traffic = profiles.largest([&](const Profile& profile) {
        return profile.kernel_families.at(strategy_.kernel_family).gradient_traffic.value;
      });
    }
  }

  /// What is whole is large, and laid out once.
  void lay_out() {
    const auto lay = [&] {
      return laid_out(job_, cluster_, placement_, network_, exchanges_, algorithm_);
    };
    if (network_.detail() == PlanDetail::fabric) {
      JobLayout layout = lay();
      workload_ = std::move(layout.workload);
      layout_ = std::make_shared<const JobLayout>(std::move(layout));
      return;
    }
    layout_ = known_.layouts.of(job_, placement_, network_, algorithm_, lay);
    workload_ = layout_->workload;
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
    if (cluster_.kinds() > 1)
      key.communicators = layout_->prices.kinds_of(layout_->joined[group_index]);
    return key;
  }

  /// One for each stage, or where the replicas of a stage differ, for each way to.
  void add_programs() {
    std::map<ProgramKey, std::size_t> first_of;  // rank group with that program
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) first_of.emplace(key_of(i), i);
    std::map<ProgramKey, std::int32_t> known;
    Strategy share = strategy_;
    job_.strategy = &share;
    std::size_t of_class = 0;  // whose costs the job has
    for (const auto& [key, group] : first_of) {
      known.emplace(key, static_cast<std::int32_t>(workload_.programs.size()));
      share.global_batch = key.micro_batches * share.micro_batch * share.data_parallel;
      if (key.ranks != of_class) costs()[key.ranks].put_into(job_);
      of_class = key.ranks;
      layout_->prices.put_into(job_, layout_->joined[group]);
      workload_.programs.push_back(program(key));
      add_exchanges(workload_.programs.back(), job_, key.stage, layout_->exchanged);
      // Every stage names its message slots alike, whether it uses them all or not.
      workload_.programs.back().message_slots =
          2 * share.chunks_of_stage() * static_cast<int>(share.micro_batches());
    }
    job_.strategy = &strategy_;
    for (std::size_t i = 0; i < workload_.groups.size(); ++i) {
      workload_.groups[i].program = known.at(key_of(i));
    }
  }

  /// In short where nobody simulates it, and nothing is put between its passes.
  [[nodiscard]] Program program(const ProgramKey& key) {
    const Strategy& share = *job_.strategy;
    if (share.sharding == Sharding::full && share.pipeline_parallel == 1) {
      return sharded_program(job_);
    }
    ChunkWorks& works = works_.try_emplace(key.ranks, job_).first->second;
    Program program =
        short_pipeline_program(job_, works, at(known_.orders.of(share), key.stage), key.stage);
    const bool is_short = network_.detail() == PlanDetail::idle_nic && layout_->exchanged.empty();
    if (is_short) return program;
    return written_out(std::move(program));
  }

  const Model& model_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  const Placement& placement_;
  std::optional<CollectiveAlgorithm> algorithm_;
  KindNetwork network_;
  ExchangeLayout exchanges_;
  KnownJobs own_;  ///< where nobody else knows any
  KnownJobs& known_;
  std::shared_ptr<const std::vector<GroupCosts>> known_costs_;  ///< by class of rank group
  std::vector<std::int64_t> micro_batches_;                     ///< by replica
  JobShape job_;
  std::map<std::size_t, ChunkWorks> works_;  ///< by class
  std::shared_ptr<const JobLayout> layout_;
  Workload workload_;
};

}  // namespace

BuiltWorkload build_workload(const JobToBuild& job) { return WorkloadBuilder(job).built(); }

}  // namespace headway
