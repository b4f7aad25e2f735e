#include "sim/workload/stage_cost.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/diagnostic.h"
#include "sim/model/operators.h"
#include "sim/profile/collective_cost.h"
#include "sim/profile/measured_collective.h"
#include "sim/strategy/activation_memory.h"
#include "sim/strategy/adapters.h"
#include "sim/strategy/recompute.h"

namespace headway {
namespace {

/// Kernels that a layer launches one after the other, forward and backward, where norms, rotary
/// embedding and activation are kernels of their own (counted in Megatron-Core's layer).
constexpr double kForwardKernels = 14.0;
constexpr double kBackwardKernels = 24.0;
/// Issuing a backward pass takes the host this much longer than the forward pass.
constexpr double kBackwardHostFactor = 1.5;
constexpr double kGradientNormBytes = 4.0;

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

/// What stays in 16 bits in every low-precision recipe: attention and the output head.
Precision wide_precision(Precision precision) {
  return bytes_per_element(precision) < 2.0 ? Precision::bf16 : precision;
}

struct PassCosts {
  CostSum forward;
  CostSum backward;
  Seconds weight_gradients;                        ///< part of `backward`
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
    const auto [m, n, k] = linear.forward;
    const Precision kept = linear.wide ? wide : precision;
    const Cost forward = gemm_cost(device, {m, n, k}, kept);
    costs.forward.add(forward);
    costs.forward_of[linear.name] += forward.time;
    costs.backward.add(gemm_cost(device, {m, k, n}, kept));  // data gradient
    if (!linear.frozen) {
      const Cost weight_gradient = gemm_cost(device, {n, k, m}, kept);
      costs.backward.add(weight_gradient);
      costs.weight_gradients += weight_gradient.time;
    }
    cast_elements += linear.input_elements;
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

ShardShape shard_of(const Strategy& strategy) {
  return {.micro_batch = static_cast<double>(strategy.micro_batch),
          .sequence_length = static_cast<double>(strategy.sequence_length),
          .packed_length = static_cast<double>(strategy.packed_length),
          .tensor_parallel = static_cast<double>(strategy.tensor_parallel),
          .context_parallel = static_cast<double>(strategy.context_parallel),
          .scattered_heads = strategy.context_parallel_method == ContextParallelMethod::all_to_all,
          .sequence_parallel = strategy.sequence_parallel,
          .fused_attention = strategy.fused_attention};
}

/// How a group of consecutive accelerators reaches each other: over the scale-up fabric, or over
/// its NICs where it does not fit a domain.
struct GroupLink {
  const ScopeCosts* scope = nullptr;
  Seconds overhead;  ///< of each collective or message
  LinkCost step;

  /// As it was measured where it was, else the closed form.
  [[nodiscard]] Seconds time(CollectiveKind kind, Bytes message, int ranks) const {
    if (const auto measured = measured_collective_cost(scope->collectives, kind, message, ranks)) {
      return measured->time;
    }
    return overhead + collective_time(kind, CollectiveAlgorithm::ring, message, ranks, step);
  }
};

/// `nics` of them work for each rank that crosses from one domain to the next.
GroupLink group_link(const Cluster& cluster, const Profile& profile, int ranks, double nics) {
  const NetworkCosts network = network_costs(profile);
  const BytesPerSecond inside = network.scale_up_efficiency * cluster.node_type.scale_up_bandwidth;
  if (ranks <= cluster.scale_up_domain) {
    return {&profile.scale_up, network.scale_up_overhead, {network.scale_up_latency, inside}};
  }
  const BytesPerSecond across =
      network.scale_out_efficiency * nics * cluster.node_type.nic_bandwidth;
  return {&profile.scale_out,
          network.scale_out_overhead,
          {network.scale_out_latency, cluster.scale_up_domain > 1 ? min(inside, across) : across}};
}

/// Tensor-parallel traffic of one pass through a layer: two all-reduces, or with sequence
/// parallelism two pairs of all-gather and reduce-scatter, of the same bytes (Korthikanti et al.
/// 2022, section 4.2.2): each 2 (t-1)/t of the layer's 16-bit input.
Seconds tensor_parallel_time(const Strategy& strategy, const Profile& profile,
                             const GroupLink& link, const TransformerModel& model,
                             const ShardShape& shard) {
  const int t = strategy.tensor_parallel;
  if (t == 1) return Seconds(0.0);
  const Bytes input(shard.tokens() * static_cast<double>(model.hidden) * 2.0);
  const Seconds exchange = strategy.sequence_parallel
                               ? link.time(CollectiveKind::all_gather, input, t) +
                                     link.time(CollectiveKind::reduce_scatter, input, t)
                               : link.time(CollectiveKind::all_reduce, input, t);
  const double seen =
      strategy.tensor_parallel_overlap ? profile.overlap.tensor_parallel_overlapped.value : 1.0;
  return 2.0 * seen * exchange;
}

/// Ring attention (Liu et al. 2023): keys and values of the other ranks arrive while the own ones
/// are worked on; what attention does not cover is seen, and never less than a floor.
Seconds context_parallel_time(const Strategy& strategy, const Profile& profile,
                              const GroupLink& link, const TransformerModel& model,
                              const ShardShape& shard, Seconds attention) {
  const int ranks = strategy.context_parallel;
  if (ranks == 1) return Seconds(0.0);
  const Bytes block(2.0 * static_cast<double>(model.kv_heads * model.head_size) /
                    shard.tensor_parallel * shard.tokens() * 2.0);
  const Seconds transfer = (ranks - 1) * (block / link.step.bandwidth);
  return max(transfer - attention, profile.overlap.context_parallel_floor.value * transfer) +
         (ranks - 1) * (link.overhead + link.step.latency);
}

/// Ulysses (Jacobs et al. 2023, section 3.2): queries, keys and values are swapped before
/// attention, its output after it, four all-to-alls that nothing hides; of each tensor a rank keeps
/// 1/ranks.
Seconds swap_time(const Strategy& strategy, const GroupLink& link, const TransformerModel& model,
                  const ShardShape& shard) {
  const auto swap = [&](std::int64_t heads) {
    const Bytes tensor(static_cast<double>(heads * model.head_size) / shard.tensor_parallel *
                       shard.tokens() * 2.0);
    return link.time(CollectiveKind::all_to_all, tensor, strategy.context_parallel);
  };
  return 2.0 * swap(model.attention_heads) + 2.0 * swap(model.kv_heads);
}

/// A pass that the host issues in `host` and the device executes in `device` takes the longer one;
/// the fourth-power mean is a smooth maximum. Returns what the host adds.
Seconds host_excess(Seconds device, Seconds host) {
  if (device.count() <= 0.0) return host;
  const double ratio = host / device;
  return device * (std::pow(1.0 + std::pow(ratio, 4.0), 0.25) - 1.0);
}

double release_factor(const KernelFamily& family, const Strategy& strategy) {
  if (strategy.software_release.empty()) return 1.0;
  const auto found = family.releases.find(strategy.software_release);
  HEADWAY_CHECK(found != family.releases.end(), "software release is not in the profile");
  return found->second.value;
}

Seconds recompute_time(const RecomputePlan& plan, const PassCosts& layer, Seconds exchanges) {
  Seconds time = plan.exchanges * exchanges;
  for (const auto& [name, forward] : layer.forward_of) time += plan.operator_share(name) * forward;
  return time;
}

/// Of a layer's activations to the host, or back.
Seconds offload_time(const TransformerModel& model, const Strategy& strategy,
                     const DeviceCosts& device) {
  HEADWAY_CHECK(device.host_bandwidth.has_value(), "a profile without a link to the host");
  return recomputing_layer_bytes(model, strategy) / BytesPerSecond(device.host_bandwidth->value);
}

TimeByCause simple_pass(const CostSum& costs) {
  TimeByCause time;
  time[Cause::compute] = costs.time();
  return time;
}

}  // namespace

StageCost stage_cost(const TransformerModel& model, const Strategy& strategy,
                     const Profile& profile, const Cluster& cluster) {
  const auto found = profile.kernel_families.find(strategy.kernel_family);
  HEADWAY_CHECK(found != profile.kernel_families.end(), "kernel family is not in the profile");
  const KernelFamily& family = found->second;
  const ShardShape shard = shard_of(strategy);

  const bool adapters = trains_adapters(strategy);
  Operators layer_work = layer_operators(model, shard);
  Operators head_work = head_operators(model, shard);
  if (adapters) {
    layer_work = adapted(std::move(layer_work), strategy);
    head_work = frozen(std::move(head_work));
  }
  const PassCosts layer = operator_costs(layer_work, strategy, profile, family, strategy.precision);
  const Precision wide = wide_precision(strategy.precision);
  KernelFamily loss = family;
  loss.memory_traffic = family.loss_traffic;
  const PassCosts head = operator_costs(head_work, strategy, profile, loss, wide);
  const PassCosts embedding =
      operator_costs(embedding_operators(model, shard), strategy, profile, family, wide);

  // Collectives run a ring over each NIC of a domain; ring attention has a rank's own NIC.
  const double nics_of_rank =
      static_cast<double>(cluster.node_type.nics) / cluster.node_type.accelerators;
  const double nics_of_domain = std::max(1.0, nics_of_rank * cluster.scale_up_domain);
  const Seconds tensor = tensor_parallel_time(
      strategy, profile, group_link(cluster, profile, strategy.tensor_parallel, nics_of_domain),
      model, shard);
  const GroupLink context_link =
      group_link(cluster, profile, strategy.tensor_parallel * strategy.context_parallel,
                 std::min(1.0, nics_of_rank));
  const bool swaps = shard.scattered_heads && strategy.context_parallel > 1;
  const Seconds context_forward =
      swaps ? swap_time(strategy, context_link, model, shard)
            : context_parallel_time(strategy, profile, context_link, model, shard,
                                    layer.attention_forward());
  const Seconds gap(family.launch_gap.value);
  const Seconds host(family.host_per_layer.value);

  StageCost cost;
  cost.layer_forward[Cause::compute] = layer.forward.time();
  cost.layer_forward[Cause::tensor_parallel] = tensor;
  cost.layer_forward[Cause::context_parallel] = context_forward;
  cost.layer_forward[Cause::other] = kForwardKernels * gap;
  cost.layer_forward[Cause::other] += host_excess(cost.layer_forward.total(), host);

  cost.layer_backward[Cause::compute] = layer.backward.time();
  cost.layer_weight[Cause::compute] = layer.weight_gradients;
  cost.layer_backward[Cause::tensor_parallel] = tensor;
  // Gradients are swapped as often; a ring passes keys and values on again, and their gradients.
  cost.layer_backward[Cause::context_parallel] = (swaps ? 1.0 : 2.0) * context_forward;
  cost.layer_backward[Cause::other] = kBackwardKernels * gap;
  cost.layer_backward[Cause::other] +=
      host_excess(cost.layer_backward.total(), kBackwardHostFactor * host);
  cost.layer_recompute[Cause::recompute] =
      strategy.recompute == Recompute::full
          ? cost.layer_forward.total()
          : recompute_time(recompute_plan(strategy), layer, tensor);

  cost.head_forward = simple_pass(head.forward);
  cost.head_backward = simple_pass(head.backward);
  cost.head_weight[Cause::compute] = head.weight_gradients;
  cost.embedding_forward = simple_pass(embedding.forward);
  // All that the embedding's backward pass does is the gradient of its table.
  if (!adapters) cost.embedding_backward = simple_pass(embedding.backward);
  cost.micro_batch_overhead = Seconds(family.micro_batch_overhead.value);
  cost.step_overhead = Seconds(family.step_overhead.value);
  const double release = release_factor(family, strategy);
  for (TimeByCause* time : {&cost.layer_forward, &cost.layer_backward, &cost.layer_weight,
                            &cost.layer_recompute, &cost.head_forward, &cost.head_backward,
                            &cost.head_weight, &cost.embedding_forward, &cost.embedding_backward}) {
    *time = release * *time;
  }

  if (strategy.offload_layers > 0) {
    const Seconds transfer = offload_time(model, strategy, profile.device);
    cost.layer_offload_forward[Cause::other] =
        max(transfer - cost.layer_forward.total(), Seconds(0.0));
    cost.layer_offload_backward[Cause::other] =
        max(transfer - cost.layer_backward.total(), Seconds(0.0));
  }

  const Seconds layer_time = layer.forward.time() + layer.backward.time();
  cost.spread =
      std::sqrt(layer.forward.variance() + layer.backward.variance()) / layer_time.count();
  cost.extrapolated = layer.forward.extrapolated() || layer.backward.extrapolated() ||
                      head.forward.extrapolated() || head.backward.extrapolated();
  return cost;
}

Seconds optimizer_time(const Profile& profile, double parameters, double updated) {
  const BytesPerSecond bandwidth(profile.device.memory_bandwidth.value *
                                 profile.device.memory_efficiency.value);
  return Bytes(updated * profile.device.optimizer_bytes.value + parameters * kGradientNormBytes) /
         bandwidth;
}

}  // namespace headway
