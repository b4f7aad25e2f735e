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
#include "sim/programs/flows/collective_price.h"
#include "sim/programs/stage_costs/context_exchange.h"
#include "sim/programs/stage_costs/expert_cost.h"
#include "sim/programs/stage_costs/group_link.h"
#include "sim/programs/stage_costs/host_cost.h"
#include "sim/programs/stage_costs/table_exchange.h"
#include "sim/programs/stage_costs/tensor_exchange.h"

namespace headway {
namespace {

/// A release that the profile does not know is one like any other.
double release_factor(const KernelFamily& family, const Strategy& strategy) {
  const auto found = family.releases.find(strategy.software_release);
  return found == family.releases.end() ? 1.0 : found->second.value;
}

/// What a layer's activations take to the host, or back.
Seconds offload_time(const Layer& layer, const Strategy& strategy, const DeviceCosts& device) {
  HEADWAY_CHECK(device.host_bandwidth.has_value(), "a profile without a link to the host");
  return recomputing_layer_bytes(layer, strategy) / BytesPerSecond(device.host_bandwidth->value);
}

/// What the two passes of a layer take.
struct PassTime {
  Seconds forward;
  Seconds backward;
};
struct PassShare {
  double forward;
  double backward;
};
struct PassTables {
  TableExchange forward;
  TableExchange backward;
};

TimeByCause simple_pass(const CostSum& costs) {
  TimeByCause time;
  time[Cause::compute] = costs.time();
  return time;
}

/// Puts the costs of all layers of a model together.
class StageCosts {
 public:
  StageCosts(const Model& model, const Strategy& strategy, const Profile& profile,
             const NodeType& node, const ExchangePlaces& places, const KernelFamily& family)
      : model_(model),
        strategy_(strategy),
        profile_(profile),
        node_(node),
        places_(places),
        family_(family),
        shape_(rank_shape_of(strategy)),
        release_(release_factor(family, strategy)) {
    const PriceEvidence evidence{.library = strategy.collective_library, .profile = &profile};
    for (const ExchangeKind kind : kAllExchanges) {
      if (!places[kind].crosses()) continue;
      wire_efficiency_ = scope_costs(node, evidence).scale_out_efficiency;
      break;
    }
  }

  [[nodiscard]] StageCost all() {
    const std::vector<int> counts = kinds_of_layers(model_, {0, model_.layer_count()});
    cost_.layers.resize(counts.size());
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      add_layer(model_.kinds[kind], counts[kind], cost_.layers[kind]);
    }
    add_ends();
    cost_.micro_batch_overhead = Seconds(family_.micro_batch_overhead.value);
    cost_.sharded_part = Seconds(family_.sharded_part.value);
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
    // Collectives run a ring over the NIC of each member that all domains have; ring attention has
    // a rank's own NIC.
    const GroupPlace& tensor_place = places_[ExchangeKind::tensor];
    const GroupLink tensor_link =
        group_link(node_, profile_, tensor_place, nics_of_rings(node_, tensor_place));
    const TensorExchangeTime tensor =
        tensor_exchange(strategy_, profile_, tensor_link, of, shape_, costs.column_gradients);
    const GroupLink context_link = group_link(node_, profile_, places_[ExchangeKind::context],
                                              std::min(1.0, nics_of_rank(node_)));
    const ContextExchange context =
        context_exchange(strategy_, profile_, context_link, of, shape_, costs.attention_forward);
    // Beside the exchanges of a forward pass runs the backward pass of another micro-batch.
    const Seconds beside = 0.5 * (costs.forward.time() + costs.backward.time());
    const ExpertRanks ranks{strategy_, profile_, node_, places_, wire_efficiency_};
    const ExpertExchange experts =
        of.routing ? expert_exchange(of, shape_, ranks, beside) : ExpertExchange{};
    const Seconds routing = experts.seen + experts.slices;
    const TableExchange pooled =
        exchange_of_tables(of, costs.forward.time() - costs.tables_forward);
    const TableExchange gradients =
        exchange_of_tables(of, costs.backward.time() - costs.tables_backward);
    const HostCosts host = host_costs(strategy_, profile_, family_, of);

    layer.forward[Cause::compute] = costs.forward.time();
    layer.forward[Cause::tensor_parallel] = tensor.forward;
    layer.forward[Cause::context_parallel] = context.forward;
    layer.forward[Cause::expert_parallel] = routing;
    layer.forward[Cause::embedding_exchange] = pooled.seen;
    layer.forward[Cause::other] = host.forward_gaps;
    layer.forward[Cause::other] += host_excess(layer.forward.total(), host.forward);

    layer.backward[Cause::compute] = costs.backward.time();
    layer.backward[Cause::tensor_parallel] = tensor.backward;
    layer.weight[Cause::compute] = costs.weight_gradients;
    layer.backward[Cause::context_parallel] = context.backward;
    layer.backward[Cause::expert_parallel] = routing;
    layer.backward[Cause::embedding_exchange] = gradients.seen;
    layer.backward[Cause::other] = host.backward_gaps;
    layer.backward[Cause::other] += host_excess(layer.backward.total(), host.backward);
    const RecomputeParts again = recompute_parts(strategy_);
    const double routed_again = of.routing ? of.routing->again.share(again) : 0.0;
    const double attended_again = of.attention ? of.attention->again.share(again) : 0.0;
    const bool is_all_again = strategy_.recompute == Recompute::full;
    layer.recompute[Cause::recompute] =
        is_all_again ? layer.forward.of_device()
                     : costs.again + routed_again * routing + attended_again * context.forward +
                           exchanged_again(of, shape_, again) * tensor.forward;
    if (is_all_again) layer.recompute[Cause::other] = layer.forward[Cause::other];
    if (strategy_.optimizer->orthogonalises) {
      layer.orthogonal =
          orthogonal_time(of, shape_, profile_.device, wide_precision(strategy_.precision));
    }
    add_flows(of, layer, costs, tensor, tensor_link, context, context_link, experts,
              {pooled, gradients});
    layers_time_ += count * (costs.forward.time() + costs.backward.time());
    layers_variance_ += count * count * (costs.forward.variance() + costs.backward.variance());
  }

  [[nodiscard]] TableExchange exchange_of_tables(const Layer& of, Seconds beside) const {
    return table_exchange(of, profile_, node_, places_[ExchangeKind::tables], shape_, beside,
                          wire_efficiency_);
  }

  /// What of the exchanges crosses the fabric. Bytes that do not fit behind the compute of a
  /// forward pass travel beside a backward one.
  void add_flows(const Layer& of, LayerCost& layer, const WorkCost& costs,
                 const TensorExchangeTime& tensor, const GroupLink& tensor_link,
                 const ContextExchange& context, const GroupLink& context_link,
                 const ExpertExchange& experts, const PassTables& tables) {
    // Ring attention hides behind attention, everything else behind the whole pass.
    const bool is_ring = context.window > Seconds(0.0);
    const auto add = [&](ExchangeKind kind, PassTraffic bytes, PassTime seen, PassShare share,
                         BytesPerSecond rate, BytesPerSecond wire, PassTime window) {
      if (!places_[kind].crosses() || bytes.forward == Bytes(0.0)) return;
      const double slower = 1.0 / release_;
      Bytes left_over;
      layer.forward_flows.of[kind] = exchange_flow({.bytes = bytes.forward,
                                                    .share_seen = share.forward,
                                                    .seen = release_ * seen.forward,
                                                    .rate = slower * rate,
                                                    .wire = wire,
                                                    .window = release_ * window.forward},
                                                   left_over);
      ExchangeFlow& backward = layer.backward_flows.of[kind];
      backward = exchange_flow({.bytes = bytes.backward,
                                .share_seen = share.backward,
                                .seen = release_ * seen.backward,
                                .rate = slower * rate,
                                .wire = wire,
                                .window = release_ * window.backward,
                                .left_over = left_over},
                               left_over);
      backward.hidden += left_over;
      backward.hidden_time = max(backward.hidden_time, backward.hidden / wire);
      layer.forward_flows.awaited[cause_of(kind)] += layer.forward_flows.of[kind].seen_time;
      layer.backward_flows.awaited[cause_of(kind)] += backward.seen_time;
      if (kind != ExchangeKind::context || !is_ring) return;
      layer.forward_flows.of[kind].window = release_ * window.forward;
      backward.window = release_ * window.backward;
    };
    const PassTime passes{costs.forward.time(), costs.backward.time()};
    add(ExchangeKind::tensor, tensor_traffic(strategy_, of, shape_),
        {tensor.forward, tensor.backward}, {tensor.forward_seen, tensor.backward_seen},
        tensor_link.step.bandwidth, wire_efficiency_ * tensor_link.wire, passes);
    // What is swapped stays with its rank in part.
    const double ranks = strategy_.context_parallel;
    const double swapped = is_ring ? 1.0 : ranks / std::max(1.0, ranks - 1.0);
    add(ExchangeKind::context, context_traffic(strategy_, of, shape_),
        {context.forward, context.backward}, {context.share_seen, context.share_seen},
        swapped * context_link.step.bandwidth, swapped * wire_efficiency_ * context_link.wire,
        is_ring ? PassTime{context.window, 2.0 * context.window} : passes);
    const BytesPerSecond routing_rate = experts.routed / experts.transfer;
    add(ExchangeKind::experts, {experts.routed, experts.routed}, {experts.seen, experts.seen},
        {experts.share_seen, experts.share_seen}, routing_rate, experts.wire, passes);
    const GroupPlace& slices = places_[ExchangeKind::expert_slices];
    const GroupLink slice_link = group_link(node_, profile_, slices, nics_of_rings(node_, slices));
    add(ExchangeKind::expert_slices, {experts.slice_bytes, experts.slice_bytes},
        {experts.slices, experts.slices}, {1.0, 1.0}, slice_link.step.bandwidth,
        wire_efficiency_ * slice_link.wire, passes);
    const auto& [pooled, gradients] = tables;
    add(ExchangeKind::tables, {pooled.sent, gradients.sent}, {pooled.seen, gradients.seen},
        {pooled.share_seen, gradients.share_seen}, pooled.rate, pooled.wire,
        {costs.forward.time() - costs.tables_forward,
         costs.backward.time() - costs.tables_backward});
    add_flows_again(of, layer);
  }

  /// Adds what is exchanged once more for a backward pass that recomputes.
  void add_flows_again(const Layer& of, LayerCost& layer) {
    if (strategy_.recompute == Recompute::full) {
      layer.recompute_flows = layer.forward_flows;
    } else {
      const RecomputeParts again = recompute_parts(strategy_);
      const double routed = of.routing ? of.routing->again.share(again) : 0.0;
      const double attended = of.attention ? of.attention->again.share(again) : 0.0;
      const auto repeat = [&](ExchangeKind kind, double share) {
        layer.recompute_flows.of[kind] = share * layer.forward_flows.of[kind];
      };
      repeat(ExchangeKind::tensor, exchanged_again(of, shape_, again));
      // Keys and values travel inside of what is attended with.
      repeat(ExchangeKind::context, attended);
      repeat(ExchangeKind::experts, routed);
      repeat(ExchangeKind::expert_slices, routed);
    }
    layer.recompute_flows.awaited = {};
    for (const ExchangeKind kind : kAllExchanges) {
      layer.recompute_flows.awaited[Cause::recompute] += layer.recompute_flows.of[kind].seen_time;
    }
  }

  void add_ends() {
    const Precision wide = wide_precision(strategy_.precision);
    const bool adapters = trains_adapters(strategy_);
    KernelFamily loss = family_;
    loss.memory_traffic = family_.loss_traffic;
    const WorkCost head = costs_of(work(model_.last, shape_), loss, wide);
    const WorkCost embedding = costs_of(work(model_.first, shape_), family_, wide);
    cost_.head_forward = simple_pass(head.forward);
    cost_.head_forward[Cause::tensor_parallel] += time_of_logits();
    cost_.head_backward = simple_pass(head.backward);
    cost_.head_weight[Cause::compute] = head.weight_gradients;
    cost_.embedding_forward = simple_pass(embedding.forward);
    // All that the embedding's backward pass does is the gradient of its table.
    if (!adapters) cost_.embedding_backward = simple_pass(embedding.backward);
    if (model_.ahead.layers == 0) return;
    const double ahead = model_.ahead.layers;
    const WorkCost join = costs_of(work(model_.ahead.join, shape_), family_, strategy_.precision);
    const LayerCost& layer = cost_.layer(model_.ahead.kind);
    cost_.head_forward += ahead * (cost_.head_forward + simple_pass(join.forward) + layer.forward);
    cost_.head_backward += ahead * (simple_pass(head.backward) + simple_pass(join.backward) +
                                    layer.backward + layer.recompute);
    cost_.head_forward_flows += ahead * layer.forward_flows;
    cost_.head_backward_flows += ahead * layer.backward_flows;
    cost_.head_backward_flows += ahead * layer.recompute_flows;
    cost_.head_weight[Cause::compute] +=
        ahead * (head.weight_gradients + join.weight_gradients + layer.weight.total());
  }

  [[nodiscard]] Seconds time_of_logits() const {
    const Bytes logits = logits_message(model_.last, shape_);
    if (logits == Bytes(0.0)) return Seconds(0.0);
    const GroupPlace& place = places_[ExchangeKind::tensor];
    return group_link(node_, profile_, place, nics_of_rings(node_, place))
        .time(CollectiveKind::all_gather, logits, strategy_.tensor_parallel);
  }

  void scale_by_release() {
    for (LayerCost& layer : cost_.layers) {
      for (TimeByCause* time : {&layer.forward, &layer.backward, &layer.recompute, &layer.weight}) {
        *time = release_ * *time;
      }
    }
    for (TimeByCause* time : {&cost_.head_forward, &cost_.head_backward, &cost_.head_weight,
                              &cost_.embedding_forward, &cost_.embedding_backward}) {
      *time = release_ * *time;
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
  const NodeType& node_;
  const ExchangePlaces& places_;
  const KernelFamily& family_;
  RankShape shape_;
  double release_;
  double wire_efficiency_ = 1.0;  ///< that all flows of a NIC together reach
  StageCost cost_;
  Seconds layers_time_;
  double layers_variance_ = 0.0;
};

}  // namespace

StageCost stage_cost(const Model& model, const Strategy& strategy, const Profile& profile,
                     const NodeType& node, const ExchangePlaces& places) {
  const auto found = profile.kernel_families.find(strategy.kernel_family);
  HEADWAY_CHECK(found != profile.kernel_families.end(), "kernel family is not in the profile");
  if (strategy.attention_kernel.empty()) {
    return StageCosts{model, strategy, profile, node, places, found->second}.all();
  }
  KernelFamily family = found->second;
  family.attention_kernel = strategy.attention_kernel;
  return StageCosts{model, strategy, profile, node, places, family}.all();
}

StageCost stage_cost(const Model& model, const Strategy& strategy, const Profile& profile,
                     const Cluster& cluster) {
  return stage_cost(model, strategy, profile, cluster.node_type,
                    best_places(strategy, cluster, Placement{}.order));
}

}  // namespace headway
