#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/jobs/recompute/recompute_extent.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/sharding.h"
#include "sim/launch/flag_table.h"
#include "sim/scenario/scenario.h"

namespace headway {

struct Strategy;
struct StrategyRule;

/// What a search over strategies varies; everything else stays as the scenario has it.
struct StrategyChoice {
  int tensor_parallel = 1;
  int context_parallel = 1;
  int pipeline_parallel = 1;
  int data_parallel = 1;
  int expert_parallel = 1;
  int virtual_stages = 1;
  const Schedule* schedule = schedules().data();  ///< of their table
  Sharding sharding = Sharding::none;
  Recompute recompute = Recompute::none;
  std::int64_t micro_batch = 1;
  friend auto operator<=>(const StrategyChoice&, const StrategyChoice&) = default;
};

/// Names of the fields that are varied, as scenarios have them.
[[nodiscard]] const std::vector<std::string_view>& searched_fields();

/// Every strategy that keeps all accelerators of a scenario busy with its model and global batch:
///
/// - degrees whose product is the number of accelerators and that divide what they split;
/// - 1F1B with every number of virtual stages, GPipe, ZB-H1, ZB-V and DualPipe;
/// - every micro-batch that divides a replica's part of the global batch;
/// - sharding of nothing, the optimizer and, without pipeline and experts, everything (ZeRO-2 holds
///   more than ZeRO-3 and reduces every micro-batch: it is left out); with these, too, where
///   torchtitan runs the job, or the scenario has it so;
/// - no recomputation, of the activation function, of attention, of whole layers, and whatever the
///   scenario has;
/// - that the scenario's recovery from failures can do with;
/// - that a framework has settings for, if one is to start it.
///
/// What goes with them: sequence parallelism with tensor parallelism, unless the scenario turns it
/// off; transfers of pipelines overlap with virtual stages only, unless it says otherwise; copies
/// of fully sharded parameters are one, or as far apart as the scenario has them where that divides
/// the replicas, and stages of a pipeline keep theirs for a step. Layers are cut as the scenario
/// has it where it has as many chunks, else by the speed of the stages' nodes (searched_layers.h).
class StrategySpace {
 public:
  /// Fields in `kept` (names of `searched_fields`) stay as the scenario has them. `scenario` has to
  /// outlive this. `accelerators`: that the strategies fill, all of the scenario's if left out.
  /// `framework`: only what its settings can say, and it starts with.
  StrategySpace(const Scenario& scenario, std::set<std::string> kept,
                std::optional<std::int64_t> accelerators = {},
                std::optional<LaunchFramework> framework = {});

  /// Calls `visit` with each strategy, in an order that depends on nothing but the scenario.
  void for_each(const std::function<void(const StrategyChoice&)>& visit) const;

  /// The same, but of strategies that differ in micro-batch, schedule and virtual stages the first
  /// one only, with the smallest micro-batch in plain 1F1B: others hold as much or more, but for
  /// what ZB-V and DualPipe even out between stages. Where gradients are let go and there is no
  /// pipeline, that of the whole batch, too.
  void for_each_thrifty(const std::function<void(const StrategyChoice&)>& visit) const;

  /// The first strategy that would be visited.
  [[nodiscard]] std::optional<StrategyChoice> any() const;

  /// The scenario's strategy with the choice in it.
  [[nodiscard]] Strategy strategy(const StrategyChoice& choice) const;

  /// The same as the "strategy" object of a scenario, every field written out.
  [[nodiscard]] nlohmann::json fields(const StrategyChoice& choice) const;

  /// Whether the strategy overlaps the tensor-parallel collectives of its backward passes.
  [[nodiscard]] bool overlaps_backward(const StrategyChoice& choice) const;

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }

 private:
  /// `split` is what the choice says of degrees and schedule.
  void visit_degrees(const std::function<void(StrategyChoice&, Strategy& split)>& visit) const;
  void visit_pipelines(StrategyChoice& choice, Strategy& split, bool only_thrifty,
                       const std::function<void(const StrategyChoice&)>& visit) const;
  [[nodiscard]] std::vector<Sharding> shardings(const StrategyChoice& choice) const;
  [[nodiscard]] bool tells_apart(const std::vector<Sharding>& shardings, Sharding sharding,
                                 const Strategy& split) const;
  [[nodiscard]] int shard_group(const Strategy& strategy) const;
  void settle_split(const StrategyChoice& choice, Strategy& strategy) const;
  [[nodiscard]] bool keeps(std::string_view field) const;
  /// Whether the framework, if there is one, can be told so.
  [[nodiscard]] bool says(std::string_view field, std::string_view value) const;
  [[nodiscard]] bool says_schedule(const Schedule& schedule, bool is_interleaved) const;
  /// As the scenario's "reliability" asks for.
  [[nodiscard]] bool recovers(const StrategyChoice& choice) const;

  const Scenario& scenario_;
  std::set<std::string> kept_;
  std::int64_t accelerators_;
  std::optional<LaunchFramework> framework_;
  bool splits_sequence_;        ///< with tensor parallelism
  bool overlaps_backward_;      ///< its collectives of the backward pass, where they can
  bool overlaps_experts_;       ///< their exchange, where there is one
  bool sets_transfer_overlap_;  ///< the scenario says whether pipelines' transfers overlap
  bool overlaps_gathers_;       ///< of parameters, where states or parameters are sharded
  bool gathers_after_step_;     ///< sharded states, where the scenario overlaps gathering
  bool shards_split_layers_;    ///< fully, those of stages and of experts
  std::vector<const StrategyRule*> schedule_rules_;
};

}  // namespace headway
