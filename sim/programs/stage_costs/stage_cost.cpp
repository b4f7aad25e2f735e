#include "sim/programs/stage_costs/stage_cost.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/costs/work_cost.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/exchanges.h"
#include "sim/layers/work.h"
#include "sim/programs/stage_costs/context_exchange.h"
#include "sim/programs/stage_costs/expert_cost.h"
#include "sim/programs/stage_costs/group_link.h"
#include "sim/programs/stage_costs/host_cost.h"
#include "sim/programs/stage_costs/tensor_exchange.h"

namespace headway {
namespace {

double release_factor(const KernelFamily& family, const Strategy& strategy) {
  if (strategy.software_release.empty()) return 1.0;
  const auto found = family.releases.find(strategy.software_release);
  HEADWAY_CHECK(found != family.releases.end(), "software release is not in the profile");
  return found->second.value;
}

/// Of a layer's activations to the host, or back.
Seconds offload_time(const Layer& layer, const Strategy& strategy, const DeviceCosts& device) {
  HEADWAY_CHECK(device.host_bandwidth.has_value(), "a profile without a link to the host");
  return recomputing_layer_bytes(layer, strategy) / BytesPerSecond(device.host_bandwidth->value);
}

TimeByCause simple_pass(const CostSum& costs) {
  TimeByCause time;
  time[Cause::compute] = costs.time();
  return time;
}

/// Puts the costs of all layers of a model together.
class StageCosts {
 public:
  StageCosts(const Model& model, const Strategy& strategy, const Profile& profile,
             const Cluster& cluster, const FabricShares& shares, const KernelFamily& family)
      : model_(model),
        strategy_(strategy),
        profile_(profile),
        cluster_(cluster),
        shares_(shares),
        family_(family),
        shape_(rank_shape_of(strategy)) {}

  [[nodiscard]] StageCost all() {
    const std::vector<int> counts = kinds_of_layers(model_, {0, model_.layer_count()});
    cost_.layers.resize(counts.size());
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      add_layer(model_.kinds[kind], counts[kind], cost_.layers[kind]);
    }
    add_ends();
    cost_.micro_batch_overhead = Seconds(family_.micro_batch_overhead.value);
    cost_.step_overhead = Seconds(family_.step_overhead.value);
    scale_by_release();
    add_offload();
    cost_.spread = std::sqrt(layers_variance_) / layers_time_.count();
    return cost_;
  }

 private:
  [[nodiscard]] WorkCost costs_of(const Work& work, const KernelFamily& family,
                                   Precision precision) {
    const WorkCost costs = work_cost(work, {.profile = profile_,
                                            .family = family,
                                            .precision = precision,
                                            .fused_attention = strategy_.fused_attention,
                                            .scaling = strategy_.scaling,
                                            .again = recompute_parts(strategy_)});
    cost_.extrapolated =
        cost_.extrapolated || costs.forward.extrapolated() || costs.backward.extrapolated();
    return costs;
  }

  void add_layer(const Layer& of, int count, LayerCost& layer) {
    const WorkCost costs =
        costs_of(work(of, shape_, adapter_rank(strategy_)), family_, strategy_.precision);
    // Collectives run a ring over each NIC of a domain; ring attention has a rank's own NIC.
    const TensorExchangeTime tensor =
        tensor_exchange(strategy_, profile_,
                        group_link(cluster_, profile_, strategy_.tensor_parallel,
                                   nics_of_domain(cluster_), shares_.tensor),
                        of, shape_, costs.column_gradients);
    const GroupLink context_link =
        group_link(cluster_, profile_, strategy_.tensor_parallel * strategy_.context_parallel,
                   std::min(1.0, nics_of_rank(cluster_)), shares_.context);
    const ContextExchange context =
        context_exchange(strategy_, profile_, context_link, of, shape_, costs.attention_forward);
    // Beside the exchanges of a forward pass runs the backward pass of another micro-batch.
    const Seconds beside = 0.5 * (costs.forward.time() + costs.backward.time());
    const Seconds experts = of.routing ? seen_expert_exchange(of, strategy_, profile_, cluster_,
                                                              shape_, beside, shares_.experts)
                                       : Seconds(0.0);
    const HostCosts host = host_costs(strategy_, profile_, family_, of);

    layer.forward[Cause::compute] = costs.forward.time();
    layer.forward[Cause::tensor_parallel] = tensor.forward;
    layer.forward[Cause::context_parallel] = context.forward;
    layer.forward[Cause::expert_parallel] = experts;
    layer.forward[Cause::other] = host.forward_gaps;
    layer.forward[Cause::other] += host_excess(layer.forward.total(), host.forward);

    layer.backward[Cause::compute] = costs.backward.time();
    layer.backward[Cause::tensor_parallel] = tensor.backward;
    layer.weight[Cause::compute] = costs.weight_gradients;
    layer.backward[Cause::context_parallel] = context.backward;
    layer.backward[Cause::expert_parallel] = experts;
    layer.backward[Cause::other] = host.backward_gaps;
    layer.backward[Cause::other] += host_excess(layer.backward.total(), host.backward);
    const RecomputeParts again = recompute_parts(strategy_);
    const double routed_again = of.routing ? of.routing->again.share(again) : 0.0;
    layer.recompute[Cause::recompute] =
        strategy_.recompute == Recompute::full
            ? layer.forward.total()
            : costs.again + routed_again * experts + exchanged_again(of, again) * tensor.forward;
    layers_time_ += count * (costs.forward.time() + costs.backward.time());
    layers_variance_ += count * count * (costs.forward.variance() + costs.backward.variance());
  }

  void add_ends() {
    const Precision wide = wide_precision(strategy_.precision);
    const bool adapters = trains_adapters(strategy_);
    KernelFamily loss = family_;
    loss.memory_traffic = family_.loss_traffic;
    const WorkCost head = costs_of(work(model_.last, shape_), loss, wide);
    const WorkCost embedding = costs_of(work(model_.first, shape_), family_, wide);
    cost_.head_forward = simple_pass(head.forward);
    cost_.head_backward = simple_pass(head.backward);
    cost_.head_weight[Cause::compute] = head.weight_gradients;
    cost_.embedding_forward = simple_pass(embedding.forward);
    // All that the embedding's backward pass does is the gradient of its table.
    if (!adapters) cost_.embedding_backward = simple_pass(embedding.backward);
    if (model_.ahead.layers == 0) return;
    const double ahead = model_.ahead.layers;
    const WorkCost join = costs_of(work(model_.ahead.join, shape_), family_, strategy_.precision);
    const LayerCost& layer = cost_.layer(model_.ahead.kind);
    cost_.head_forward +=
        ahead * (simple_pass(head.forward) + simple_pass(join.forward) + layer.forward);
    cost_.head_backward += ahead * (simple_pass(head.backward) + simple_pass(join.backward) +
                                    layer.backward + layer.recompute);
    cost_.head_weight[Cause::compute] +=
        ahead * (head.weight_gradients + join.weight_gradients + layer.weight.total());
  }

  void scale_by_release() {
    const double release = release_factor(family_, strategy_);
    for (LayerCost& layer : cost_.layers) {
      for (TimeByCause* time : {&layer.forward, &layer.backward, &layer.recompute, &layer.weight}) {
        *time = release * *time;
      }
    }
    for (TimeByCause* time : {&cost_.head_forward, &cost_.head_backward, &cost_.head_weight,
                              &cost_.embedding_forward, &cost_.embedding_backward}) {
      *time = release * *time;
    }
  }

  void add_offload() {
    if (strategy_.offload_layers == 0) return;
    for (std::size_t kind = 0; kind < cost_.layers.size(); ++kind) {
      LayerCost& layer = cost_.layers[kind];
      const Seconds transfer = offload_time(model_.kinds[kind], strategy_, profile_.device);
      layer.offload_forward[Cause::other] = max(transfer - layer.forward.total(), Seconds(0.0));
      layer.offload_backward[Cause::other] = max(transfer - layer.backward.total(), Seconds(0.0));
    }
  }

  const Model& model_;
  const Strategy& strategy_;
  const Profile& profile_;
  const Cluster& cluster_;
  const FabricShares& shares_;
  const KernelFamily& family_;
  RankShape shape_;
  StageCost cost_;
  Seconds layers_time_;
  double layers_variance_ = 0.0;
};

}  // namespace

StageCost stage_cost(const Model& model, const Strategy& strategy, const Profile& profile,
                     const Cluster& cluster, const FabricShares& shares) {
  const auto found = profile.kernel_families.find(strategy.kernel_family);
  HEADWAY_CHECK(found != profile.kernel_families.end(), "kernel family is not in the profile");
  return StageCosts{model, strategy, profile, cluster, shares, found->second}.all();
}

}  // namespace headway
