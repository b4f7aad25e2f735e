#include "sim/plan/time_bound.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sim/base/diagnostic.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/perturbation/slow_replicas.h"
#include "sim/programs/stage_pieces.h"

namespace headway {
namespace {

/// Sums are made in another order than programs make them.
constexpr double kRounding = 1.0 - 1e-9;

}  // namespace

/// Times of the model's layers, summed up from the first one on: entry l is that of l layers.
struct TimeBound::LayerSums {
  std::vector<double> forward{0.0};
  std::vector<double> backward{0.0};   ///< nothing recomputed
  std::vector<double> recompute{0.0};  ///< where it is
  std::vector<double> weight{0.0};     ///< part of backward: gradients of weights
  double embedding_forward = 0.0;
  double embedding_backward = 0.0;
  double head_forward = 0.0;
  double head_backward = 0.0;
  double head_weight = 0.0;
  double micro_batch_overhead = 0.0;
  double step_overhead = 0.0;
  double slowdown = 1.0;

  /// What bounds both.
  void keep_least_of(const LayerSums& other) {
    const auto each = [&](std::vector<double> LayerSums::*sums, auto pick) {
      std::ranges::transform(this->*sums, other.*sums, (this->*sums).begin(), pick);
    };
    const auto least = [](double a, double b) { return std::min(a, b); };
    // Where gradients of weights wait, they are taken off: the most of them bounds.
    const auto most = [](double a, double b) { return std::max(a, b); };
    each(&LayerSums::forward, least);
    each(&LayerSums::backward, least);
    each(&LayerSums::recompute, least);
    each(&LayerSums::weight, most);
    embedding_forward = least(embedding_forward, other.embedding_forward);
    embedding_backward = least(embedding_backward, other.embedding_backward);
    head_forward = least(head_forward, other.head_forward);
    head_backward = least(head_backward, other.head_backward);
    head_weight = most(head_weight, other.head_weight);
    micro_batch_overhead = least(micro_batch_overhead, other.micro_batch_overhead);
    step_overhead = least(step_overhead, other.step_overhead);
  }
};

/// How the model is cut: chunks by position, and which of them a stage has.
struct TimeBound::Cut {
  std::vector<LayerRange> chunks;
  std::vector<std::vector<int>> positions;  ///< by stage
};

TimeBound::TimeBound(const StrategySpace& space)
    : space_(space), recomputing_(space.scenario().strategy) {}
TimeBound::~TimeBound() = default;

const TimeBound::LayerSums& TimeBound::sums(const StrategyChoice& choice) {
  const Scenario& scenario = space_.scenario();
  // How far ranks of a group stand apart may depend on the other degrees.
  const bool is_in_row = std::ranges::is_sorted(scenario.placement.order);
  const std::pair degrees{choice.tensor_parallel, choice.context_parallel};
  if (degrees != sums_are_of_) {
    sums_.clear();
    sums_are_of_ = degrees;
  }
  std::unique_ptr<LayerSums>& known =
      sums_[{choice.expert_parallel, choice.micro_batch, choice.recompute,
             is_in_row ? 0 : choice.data_parallel, is_in_row ? 0 : choice.pipeline_parallel}];
  if (known) return *known;
  known = std::make_unique<LayerSums>(sums_on(choice, 0));
  for (int kind = 1; kind < scenario.cluster->kinds(); ++kind) {
    known->keep_least_of(sums_on(choice, kind));
  }
  return *known;
}

TimeBound::LayerSums TimeBound::sums_on(const StrategyChoice& choice, int kind_of_node) const {
  const Scenario& scenario = space_.scenario();
  LayerSums sums;
  const Strategy strategy = space_.strategy(choice);
  JobShape job;
  job.model = &scenario.model;
  job.strategy = &strategy;
  const ExchangePlaces places = best_places(strategy, *scenario.cluster, scenario.placement.order);
  job.cost = stage_cost(scenario.model, strategy, scenario.profiles().of(kind_of_node),
                        scenario.cluster->type_of_kind(kind_of_node), places);
  sums.slowdown = median_of_slowest(scenario.perturbation.device_spread, strategy.ranks()) *
                  median_of_slowest(scenario.perturbation.jitter,
                                    strategy.tensor_parallel * strategy.context_parallel);
  // No slow device stretches what is on the fabric, nor what the host does; the bound stretches all
  // that it adds up.
  const double as_it_is =
      scenario.perturbation.slow_accelerators.empty() ? 1.0 / sums.slowdown : 0.0;
  const auto stretchable = [&](const TimeByCause& time, const PassFlows& flows) {
    const Seconds kept = flows.awaited.total() + time[Cause::other];
    return (time.total() - (1.0 - as_it_is) * kept).count();
  };
  struct OfKind {
    double forward, backward, recompute, weight;
  };
  std::vector<std::optional<OfKind>> of_kinds(scenario.model.kinds.size());
  for (int layer = 0; layer < scenario.model.layer_count(); ++layer) {
    std::optional<OfKind>& kind = of_kinds[static_cast<std::size_t>(scenario.model.kind_of(layer))];
    if (!kind) {
      const Piece piece{.first_layer = layer, .layers = 1};
      const Piece recomputed{.first_layer = layer, .layers = 1, .recomputed = 1};
      const double backward = stretchable(backward_time(job, piece), backward_flows(job, piece));
      const double with_recompute =
          stretchable(backward_time(job, recomputed), backward_flows(job, recomputed));
      kind = {.forward = stretchable(forward_time(job, piece), forward_flows(job, piece)),
              .backward = backward,
              .recompute = with_recompute - backward,
              .weight = weight_gradient_time(job, piece).total().count()};
    }
    sums.forward.push_back(sums.forward.back() + kind->forward);
    sums.backward.push_back(sums.backward.back() + kind->backward);
    sums.recompute.push_back(sums.recompute.back() + kind->recompute);
    sums.weight.push_back(sums.weight.back() + kind->weight);
  }
  sums.embedding_forward = job.cost.embedding_forward.total().count();
  sums.embedding_backward = job.cost.embedding_backward.total().count();
  sums.head_forward = stretchable(job.cost.head_forward, job.cost.head_forward_flows);
  sums.head_backward = stretchable(job.cost.head_backward, job.cost.head_backward_flows);
  sums.head_weight = job.cost.head_weight.total().count();
  sums.micro_batch_overhead = as_it_is * job.cost.micro_batch_overhead.count();
  sums.step_overhead = as_it_is * job.cost.step_overhead.count();
  return sums;
}

const TimeBound::Cut& TimeBound::cut(const StrategyChoice& choice) {
  std::unique_ptr<Cut>& known =
      cuts_[{choice.pipeline_parallel, choice.virtual_stages, choice.schedule}];
  if (known) return *known;
  known = std::make_unique<Cut>();
  const Strategy strategy = space_.strategy(choice);
  known->chunks = chunk_layers(space_.scenario().model, strategy);
  for (int stage = 0; stage < strategy.pipeline_parallel; ++stage) {
    std::vector<int>& positions = known->positions.emplace_back();
    for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
      positions.push_back(
          chunk_position(*strategy.schedule, stage, chunk, strategy.pipeline_parallel));
    }
  }
  return *known;
}

Seconds TimeBound::of(const StrategyChoice& choice) {
  // How states are sharded is no part of it, and such strategies come one after the other.
  StrategyChoice apart_from_sharding = choice;
  apart_from_sharding.sharding = {};
  if (apart_from_sharding != last_.first) last_ = {apart_from_sharding, bound_of(choice)};
  return last_.second;
}

Seconds TimeBound::bound_of(const StrategyChoice& choice) {
  const LayerSums& sums = this->sums(choice);
  const Cut& cut = this->cut(choice);
  const Scenario& scenario = space_.scenario();
  const bool splits = choice.schedule->splits_backward;
  const bool is_doubled = choice.schedule->is_doubled();
  const std::int64_t batches =
      scenario.strategy.global_batch / (choice.data_parallel * choice.micro_batch);
  const auto micro_batches = static_cast<double>(batches);
  const double passes = is_doubled ? micro_batches / 2.0 : micro_batches;
  const bool is_as_given = choice.recompute == scenario.strategy.recompute;
  recomputing_.recompute = choice.recompute;
  recomputing_.recompute_layers = is_as_given ? scenario.strategy.recompute_layers : 0;

  const std::size_t count = cut.chunks.size();
  const double overhead = sums.micro_batch_overhead / choice.virtual_stages;
  // Of the chunks before each position: forward passes; backward passes that the next one waits
  // for.
  thread_local std::vector<double> forward, awaited, weight;
  forward.assign(1, 0.0);
  awaited.assign(1, 0.0);
  weight.assign(count, 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = static_cast<std::size_t>(cut.chunks[i].first);
    const auto end = first + static_cast<std::size_t>(cut.chunks[i].count);
    const auto recomputed =
        static_cast<std::size_t>(recomputed_layers(recomputing_, cut.chunks[i].count));
    double pass = sums.forward[end] - sums.forward[first] + overhead;
    double back = sums.backward[end] - sums.backward[first] + sums.recompute[first + recomputed] -
                  sums.recompute[first];
    weight[i] = splits ? sums.weight[end] - sums.weight[first] : 0.0;
    if (i == 0) {
      pass += sums.embedding_forward;
      back += sums.embedding_backward;
      if (splits) weight[i] += sums.embedding_backward;
    }
    if (i + 1 == count) {
      pass += sums.head_forward;
      back += sums.head_backward;
      if (splits) weight[i] += sums.head_weight;
    }
    forward.push_back(forward.back() + pass);
    awaited.push_back(awaited.back() + back - weight[i]);
  }

  std::vector<StageFactors> replicas;
  if (!scenario.perturbation.slow_accelerators.empty()) {
    replicas = slow_replicas(scenario.perturbation,
                             placement_of(space_.strategy(choice), scenario.placement.order));
  }
  double bound = 0.0;
  for (std::size_t stage = 0; stage < cut.positions.size(); ++stage) {
    double slowest = 1.0;
    for (const StageFactors& factors : replicas) slowest = std::max(slowest, factors[stage]);
    double fill = forward.back();
    double drain = awaited.back();
    double needed = 0.0;  // before the last gradient leaves the stage
    double later = 0.0;   // gradients of weights, which may be worked out after it
    for (const int position : cut.positions[stage]) {
      const auto at = static_cast<std::size_t>(position);
      fill = std::min(fill, forward[at]);
      drain = std::min(drain, awaited[at]);
      needed += passes * (forward[at + 1] - forward[at] + awaited[at + 1] - awaited[at]);
      later += passes * weight[at];
    }
    bound = std::max(bound, fill + slowest * needed + std::max(drain, slowest * later));
  }
  return Seconds(sums.slowdown * (bound + sums.step_overhead) * kRounding);
}

}  // namespace headway
