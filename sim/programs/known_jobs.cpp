#include "sim/programs/known_jobs.h"

#include <algorithm>

#include "sim/programs/pieces/chunk_neighbours.h"

namespace headway {
namespace {

/// The same strategy for all that cost alike.
Strategy as_costed(const Model& model, Strategy strategy) {
  static const Strategy any;
  strategy.pipeline_parallel = any.pipeline_parallel;
  if (!model.has_tables()) strategy.data_parallel = any.data_parallel;
  strategy.virtual_stages = any.virtual_stages;
  strategy.schedule = any.schedule;
  strategy.layers_per_stage.clear();
  strategy.global_batch = any.global_batch;
  strategy.sharding = any.sharding;
  strategy.shard_group = any.shard_group;
  strategy.reshard_after_forward = any.reshard_after_forward;
  strategy.per_parameter_sharding = any.per_parameter_sharding;
  strategy.overlap_parameter_gather = any.overlap_parameter_gather;
  strategy.overlap_pipeline_transfers = any.overlap_pipeline_transfers;
  return strategy;
}

/// The same strategy for all that are laid out alike. Embedding and head stand on one stage or on
/// two by the course that a model takes through the stages.
Strategy as_laid_out(Strategy strategy) {
  static const Strategy any;
  strategy.virtual_stages = any.virtual_stages;
  if (strategy.schedule->course == any.schedule->course) strategy.schedule = any.schedule;
  strategy.layers_per_stage.clear();
  // A replica that gets micro-batches by its speed is laid out by itself, however many these are.
  strategy.micro_batch = any.micro_batch;
  strategy.global_batch = any.global_batch;
  strategy.recompute = any.recompute;
  strategy.recompute_layers = any.recompute_layers;
  strategy.recompute_modules.clear();
  strategy.offload_layers = any.offload_layers;
  strategy.reshard_after_forward = any.reshard_after_forward;
  strategy.per_parameter_sharding = any.per_parameter_sharding;
  strategy.overlap_parameter_gather = any.overlap_parameter_gather;
  strategy.overlap_pipeline_transfers = any.overlap_pipeline_transfers;
  return strategy;
}

}  // namespace

KnownCosts::Costs KnownCosts::of(const Model& model, const Strategy& strategy,
                                 const std::vector<GroupClass>& classes,
                                 const std::function<std::vector<GroupCosts>()>& work_out) {
  std::vector<Known>& known =
      known_[{strategy.tensor_parallel, strategy.context_parallel, strategy.expert_parallel,
              strategy.micro_batch, strategy.recompute}];
  Strategy costed = as_costed(model, strategy);
  for (const Known& each : known) {
    if (each.strategy == costed && each.classes == classes) return each.costs;
  }
  known.push_back(
      {std::move(costed), classes, std::make_shared<const std::vector<GroupCosts>>(work_out())});
  return known.back().costs;
}

KnownLayouts::Layout KnownLayouts::of(const JobShape& job, const Placement& placement,
                                      const KindNetwork& network,
                                      std::optional<CollectiveAlgorithm> algorithm,
                                      const std::function<JobLayout()>& lay_out) {
  const Strategy& strategy = *job.strategy;
  std::vector<Known>& known =
      known_[{strategy.tensor_parallel, strategy.context_parallel, strategy.pipeline_parallel,
              strategy.expert_parallel, strategy.sharding}];
  Known wanted{.strategy = as_laid_out(strategy),
               .placement = placement,
               .detail = network.detail(),
               .algorithm = algorithm,
               .message = network.measures_transfers() ? largest_passed_on(job) : Bytes(0.0)};
  for (const Known& each : known) {
    if (each.strategy == wanted.strategy && each.placement == placement &&
        each.detail == wanted.detail && each.algorithm == algorithm &&
        each.message == wanted.message) {
      return each.layout;
    }
  }
  wanted.layout = std::make_shared<const JobLayout>(lay_out());
  known.push_back(std::move(wanted));
  return known.back().layout;
}

}  // namespace headway
