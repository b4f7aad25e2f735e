#include "sim/programs/stage_costs/exchange_traffic.h"

#include <algorithm>
#include <map>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/exchanges.h"
#include "sim/programs/stage_costs/context_exchange.h"
#include "sim/programs/stage_costs/expert_cost.h"
#include "sim/programs/stage_costs/tensor_exchange.h"

namespace headway {
namespace {

/// Of one rank, by kind of exchange.
struct RankTraffic {
  Bytes tensor;
  Bytes context;
  Bytes experts;

  void add(double times, const RankTraffic& other) {
    tensor += times * other.tensor;
    context += times * other.context;
    experts += times * other.experts;
  }
};

/// In one micro-batch's passes through a layer.
struct LayerTraffic {
  RankTraffic passes;
  RankTraffic recompute;
};

/// To the experts and back, as much as if each rank of the group sent 1/ranks to every one.
Bytes expert_pass(const Layer& layer, const Strategy& strategy, const Cluster& cluster,
                  const RankShape& shape) {
  const double domains = static_cast<double>(strategy.expert_group()) / cluster.scale_up_domain;
  const double elsewhere = (domains - 1.0) / domains;
  const double busiest = std::max(1.0, expert_load(layer.routing->experts, shape));
  const Bytes across = expert_traffic(layer, strategy, cluster, shape).across_domains;
  return 2.0 / (elsewhere * busiest) * across;
}

LayerTraffic layer_traffic(const Layer& layer, const Strategy& strategy, const Cluster& cluster,
                           const ExchangePlans& plans) {
  const RankShape shape = rank_shape_of(strategy);
  RankTraffic forward;
  RankTraffic backward;
  if (!plans.tensor.empty()) {
    const PassTraffic tensor = tensor_traffic(strategy, layer, shape);
    forward.tensor = tensor.forward;
    backward.tensor = tensor.backward;
  }
  if (!plans.context.empty()) {
    const PassTraffic context = context_traffic(strategy, layer, shape);
    forward.context = context.forward;
    backward.context = context.backward;
  }
  if (!plans.experts.empty() && layer.routing) {
    forward.experts = expert_pass(layer, strategy, cluster, shape);
    backward.experts = forward.experts;
  }
  LayerTraffic traffic;
  traffic.passes.add(1.0, forward);
  traffic.passes.add(1.0, backward);
  if (strategy.recompute == Recompute::full) {
    traffic.recompute = forward;
    return traffic;
  }
  const RecomputeParts again = recompute_parts(strategy);
  const double routed = layer.routing ? layer.routing->again.share(again) : 0.0;
  traffic.recompute = {.tensor = exchanged_again(layer, again) * forward.tensor,
                       .experts = routed * forward.experts};
  return traffic;
}

/// Of a rank of a stage, in the whole iteration.
RankTraffic stage_traffic(const Model& model, const Strategy& strategy,
                          const std::vector<LayerTraffic>& layers, int stage) {
  const auto add_layers = [&](RankTraffic& traffic, const LayerRange& range,
                              RankTraffic LayerTraffic::*part, double passes) {
    const std::vector<int> counts = kinds_of_layers(model, range);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      traffic.add(passes * counts[kind], layers[kind].*part);
    }
  };
  // Either copy of the model sees half of the micro-batches.
  const double copies = strategy.schedule->is_doubled() ? 2.0 : 1.0;
  const double passes = static_cast<double>(strategy.micro_batches()) / copies;
  RankTraffic traffic;
  int chunk = 0;
  for (const LayerRange& range : stage_layers(model, strategy, stage)) {
    add_layers(traffic, range, &LayerTraffic::passes, passes);
    const LayerRange again{range.first, recomputed_layers(strategy, range.count)};
    add_layers(traffic, again, &LayerTraffic::recompute, passes);
    if (is_last_chunk(strategy, stage, chunk++)) {
      const double predictions = passes * model.ahead.layers;
      const LayerTraffic& layer = layers[static_cast<std::size_t>(model.ahead.kind)];
      traffic.add(predictions, layer.passes);
      traffic.add(predictions, layer.recompute);
    }
  }
  return traffic;
}

}  // namespace

std::vector<ChargedBytes> exchange_traffic(const Model& model, const Strategy& strategy,
                                           const Cluster& cluster, const ExchangePlans& plans) {
  if (plans.tensor.empty() && plans.context.empty() && plans.experts.empty()) return {};
  std::vector<LayerTraffic> layers;
  for (const Layer& layer : model.kinds) {
    layers.push_back(layer_traffic(layer, strategy, cluster, plans));
  }
  std::map<LinkId, Bytes> links;
  const auto load = [&](const std::vector<FlowPlan>& stages, int stage, Bytes amount) {
    if (stages.empty()) return;
    for (const LinkLoad& link : stages[static_cast<std::size_t>(stage)].links) {
      links[link.link] += link.weight * amount;
    }
  };
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    const RankTraffic traffic = stage_traffic(model, strategy, layers, stage);
    load(plans.tensor, stage, traffic.tensor);
    load(plans.context, stage, traffic.context);
    load(plans.experts, stage, traffic.experts);
  }
  std::vector<ChargedBytes> charged;
  for (const auto& [link, bytes] : links) charged.push_back({link, bytes});
  return charged;
}

}  // namespace headway
