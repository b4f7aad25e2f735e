#include "sim/programs/stage_costs/stage_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/diagnostic.h"
#include "sim/jobs/activation_memory.h"
#include "sim/jobs/adapters.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/programs/stage_costs/context_exchange.h"
#include "sim/programs/stage_costs/expert_cost.h"
#include "sim/programs/stage_costs/group_link.h"
#include "sim/programs/stage_costs/host_cost.h"
#include "sim/programs/stage_costs/rank_work.h"
#include "sim/programs/stage_costs/tensor_exchange.h"

namespace headway {
namespace {

/// Sums costs and how uncertain the sum is (parts err independently: squares add).
class CostSum {
 public:
  void add(const Cost& cost) {
    time_ += cost.time;
    const double deviation = cost.time.count() * cost.spread;
    variance_ += deviation * deviation;
    extrapolated_ = extrapolated_ || cost.status == CostStatus::extrapolated;
  }
  [[nodiscard]] Seconds time() const { return time_; }
  [[nodiscard]] double variance() const { return variance_; }
  [[nodiscard]] bool extrapolated() const { return extrapolated_; }

 private:
  Seconds time_;
  double variance_ = 0.0;
  bool extrapolated_ = false;
};

struct PassCosts {
  CostSum forward;
  CostSum backward;
  Seconds weight_gradients;                        ///< part of `backward`
  ColumnGradients column_gradients;                ///< part of `backward`
  std::map<std::string_view, Seconds> forward_of;  ///< parts of `forward`, by operator
  [[nodiscard]] Seconds attention_forward() const {
    const auto found = forward_of.find(kAttentionCore);
    return found == forward_of.end() ? Seconds(0.0) : found->second;
  }
};

PassCosts operator_costs(const Operators& operators, const Strategy& strategy,
                         const Profile& profile, const KernelFamily& family, Precision precision) {
  const DeviceCosts& device = profile.device;
  const Precision wide = wide_precision(precision);
  PassCosts costs;
  double cast_elements = 0.0;
  for (const LinearOperator& linear : operators.linears) {
    const LinearProducts products = linear_products(linear.forward);
    const Precision kept = linear.wide ? wide : precision;
    const Cost forward = gemm_cost(device, products.forward, kept);
    costs.forward.add(forward);
    costs.forward_of[linear.name] += forward.time;
    const Cost data_gradient = gemm_cost(device, products.data_gradient, kept);
    costs.backward.add(data_gradient);
    if (linear.column_parallel) costs.column_gradients.data += data_gradient.time;
    if (!linear.frozen) {
      const Cost weight_gradient = gemm_cost(device, products.weight_gradient, kept);
      costs.backward.add(weight_gradient);
      costs.weight_gradients += weight_gradient.time;
      if (linear.column_parallel) costs.column_gradients.weights += weight_gradient.time;
    }
    cast_elements += linear.input_elements;
  }
  for (const GroupedOperator& grouped : operators.grouped) {
    const auto [m, n, k] = grouped.forward;
    const auto cost_of = [&](const GemmShape& shape) {
      return grouped_gemm_cost(device, *profile.experts, shape, grouped.experts, m, precision);
    };
    const Cost forward = cost_of({m, n, k});
    const Cost weight_gradient = cost_of({n, k, m});
    costs.forward.add(forward);
    costs.forward_of[grouped.name] += forward.time;
    costs.backward.add(cost_of({m, k, n}));
    costs.backward.add(weight_gradient);
    costs.weight_gradients += weight_gradient.time;
    cast_elements += grouped.experts * m * k;
  }
  if (operators.permuted_elements > 0.0) {
    const Cost forward =
        permutation_cost(device, family, *profile.experts, operators.permuted_elements);
    costs.forward.add(forward);
    costs.forward_of[kPermutation] += forward.time;
    costs.backward.add(
        permutation_cost(device, family, *profile.experts, 2.0 * operators.permuted_elements));
  }
  if (bytes_per_element(precision) < 2.0) {  // inputs are quantised in each pass
    costs.forward.add(cast_cost(device, cast_elements, strategy.scaling));
    costs.backward.add(cast_cost(device, cast_elements, strategy.scaling));
  }
  for (const AttentionShape& shape : operators.attention) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      const Cost cost = strategy.fused_attention
                            ? fused_attention_cost(device, family, shape, pass)
                            : unfused_attention_cost(device, shape, pass, wide);
      (pass == Pass::forward ? costs.forward : costs.backward).add(cost);
      if (pass == Pass::forward) costs.forward_of[kAttentionCore] += cost.time;
    }
  }
  for (const MemoryOperator& memory_pass : operators.memory_passes) {
    const Cost forward = memory_pass_cost(device, family, memory_pass.forward);
    costs.forward.add(forward);
    costs.forward_of[memory_pass.name] += forward.time;
    costs.backward.add(memory_pass_cost(device, family, memory_pass.backward));
  }
  return costs;
}

double release_factor(const KernelFamily& family, const Strategy& strategy) {
  if (strategy.software_release.empty()) return 1.0;
  const auto found = family.releases.find(strategy.software_release);
  HEADWAY_CHECK(found != family.releases.end(), "software release is not in the profile");
  return found->second.value;
}

Seconds recompute_time(const RecomputePlan& plan, const PassCosts& layer) {
  Seconds time;
  for (const auto& [name, forward] : layer.forward_of) time += plan.operator_share(name) * forward;
  return time;
}

/// Of a layer's activations to the host, or back.
Seconds offload_time(const TransformerModel& model, const Strategy& strategy,
                     const DeviceCosts& device, LayerKind kind) {
  HEADWAY_CHECK(device.host_bandwidth.has_value(), "a profile without a link to the host");
  return recomputing_layer_bytes(model, strategy, kind) /
         BytesPerSecond(device.host_bandwidth->value);
}

TimeByCause simple_pass(const CostSum& costs) {
  TimeByCause time;
  time[Cause::compute] = costs.time();
  return time;
}

/// Puts the costs of all layers of a model together.
class StageCosts {
 public:
  StageCosts(const TransformerModel& model, const Strategy& strategy, const Profile& profile,
             const Cluster& cluster, const FabricShares& shares, const KernelFamily& family)
      : model_(model),
        strategy_(strategy),
        profile_(profile),
        cluster_(cluster),
        shares_(shares),
        family_(family),
        shard_(shard_of(strategy)) {}

  [[nodiscard]] StageCost all() {
    std::array<int, kLayerKinds> counts =
        kinds_of_layers(model_, {0, static_cast<int>(model_.layers)});
    for (const LayerKind kind : layer_kinds()) {
      if (counts[kind.index()] > 0) add_layer(kind, counts[kind.index()]);
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
  [[nodiscard]] PassCosts costs_of(const Operators& operators, const KernelFamily& family,
                                   Precision precision) {
    PassCosts costs = operator_costs(operators, strategy_, profile_, family, precision);
    cost_.extrapolated =
        cost_.extrapolated || costs.forward.extrapolated() || costs.backward.extrapolated();
    return costs;
  }

  void add_layer(LayerKind kind, int count) {
    const PassCosts costs =
        costs_of(layer_work(model_, strategy_, kind), family_, strategy_.precision);
    // Collectives run a ring over each NIC of a domain; ring attention has a rank's own NIC.
    const TensorExchange tensor =
        tensor_exchange(strategy_, profile_,
                        group_link(cluster_, profile_, strategy_.tensor_parallel,
                                   nics_of_domain(cluster_), shares_.tensor),
                        model_, shard_, kind, costs.column_gradients);
    const GroupLink context_link =
        group_link(cluster_, profile_, strategy_.tensor_parallel * strategy_.context_parallel,
                   std::min(1.0, nics_of_rank(cluster_)), shares_.context);
    const ContextExchange context = context_exchange(strategy_, profile_, context_link, model_,
                                                     shard_, costs.attention_forward());
    // Beside the exchanges of a forward pass runs the backward pass of another micro-batch.
    const Seconds beside = 0.5 * (costs.forward.time() + costs.backward.time());
    const Seconds experts = kind.experts
                                ? seen_expert_exchange(model_, strategy_, profile_, cluster_,
                                                       shard_, beside, shares_.experts)
                                : Seconds(0.0);
    const HostCosts host = host_costs(strategy_, profile_, family_, kind);

    LayerCost& layer = cost_.layer(kind);
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
    const RecomputePlan plan = recompute_plan(strategy_);
    layer.recompute[Cause::recompute] =
        strategy_.recompute == Recompute::full
            ? layer.forward.total()
            : recompute_time(plan, costs) + plan.expert_exchanges * experts +
                  plan.tensor_exchanges(model_, kind) * tensor.forward;
    layers_time_ += count * (costs.forward.time() + costs.backward.time());
    layers_variance_ += count * count * (costs.forward.variance() + costs.backward.variance());
  }

  void add_ends() {
    const Precision wide = wide_precision(strategy_.precision);
    const bool adapters = trains_adapters(strategy_);
    KernelFamily loss = family_;
    loss.memory_traffic = family_.loss_traffic;
    const PassCosts head = costs_of(head_work(model_, strategy_), loss, wide);
    const PassCosts embedding = costs_of(embedding_operators(model_, shard_), family_, wide);
    cost_.head_forward = simple_pass(head.forward);
    cost_.head_backward = simple_pass(head.backward);
    cost_.head_weight[Cause::compute] = head.weight_gradients;
    cost_.embedding_forward = simple_pass(embedding.forward);
    // All that the embedding's backward pass does is the gradient of its table.
    if (!adapters) cost_.embedding_backward = simple_pass(embedding.backward);
    if (model_.multi_token_prediction_layers == 0) return;
    const auto predictions = static_cast<double>(model_.multi_token_prediction_layers);
    const PassCosts join =
        costs_of(prediction_join_operators(model_, shard_), family_, strategy_.precision);
    const LayerCost& layer = cost_.layer(prediction_layer_kind(model_));
    cost_.head_forward +=
        predictions * (simple_pass(head.forward) + simple_pass(join.forward) + layer.forward);
    cost_.head_backward += predictions * (simple_pass(head.backward) + simple_pass(join.backward) +
                                          layer.backward + layer.recompute);
    cost_.head_weight[Cause::compute] +=
        predictions * (head.weight_gradients + join.weight_gradients + layer.weight.total());
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
    for (const LayerKind kind : layer_kinds()) {
      LayerCost& layer = cost_.layer(kind);
      if (layer.forward.total() == Seconds(0.0)) continue;
      const Seconds transfer = offload_time(model_, strategy_, profile_.device, kind);
      layer.offload_forward[Cause::other] = max(transfer - layer.forward.total(), Seconds(0.0));
      layer.offload_backward[Cause::other] = max(transfer - layer.backward.total(), Seconds(0.0));
    }
  }

  const TransformerModel& model_;
  const Strategy& strategy_;
  const Profile& profile_;
  const Cluster& cluster_;
  const FabricShares& shares_;
  const KernelFamily& family_;
  ShardShape shard_;
  StageCost cost_;
  Seconds layers_time_;
  double layers_variance_ = 0.0;
};

}  // namespace

StageCost stage_cost(const TransformerModel& model, const Strategy& strategy,
                     const Profile& profile, const Cluster& cluster, const FabricShares& shares) {
  const auto found = profile.kernel_families.find(strategy.kernel_family);
  HEADWAY_CHECK(found != profile.kernel_families.end(), "kernel family is not in the profile");
  return StageCosts{model, strategy, profile, cluster, shares, found->second}.all();
}

}  // namespace headway
