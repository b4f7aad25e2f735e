#include "sim/plan/time_bound.h"

#include <algorithm>
#include <array>

#include "sim/base/diagnostic.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/perturbation/slow_replicas.h"
#include "sim/programs/pieces/stage_pieces.h"

namespace headway {
namespace {

/// Sums are made in another order than programs make them.
constexpr double kRounding = 1.0 - 1e-9;

/// The choice with a schedule that cuts backward passes in two, or does not, as the choice's does
/// not, or does: what layers cost depends on no more of a schedule. Without a pipeline there is but
/// one.
StrategyChoice with_backward_of_others(StrategyChoice choice) {
  if (choice.pipeline_parallel == 1) return choice;
  const bool splits = choice.schedule->splits_backward;
  choice.schedule = &*std::ranges::find(schedules(), !splits, &Schedule::splits_backward);
  return choice;
}

}  // namespace

/// What layers take on one kind of node.
struct TimeBound::LayerCosts {
  struct Layer {
    double forward = 0.0;
    double backward = 0.0;   ///< nothing recomputed
    double recompute = 0.0;  ///< where it is
    double weight = 0.0;     ///< part of backward: gradients of weights
  };
  std::vector<Layer> layers;  ///< by kind of layer
  Layer whole;                ///< all of the model's layers
  double embedding_forward = 0.0;
  double embedding_backward = 0.0;
  double head_forward = 0.0;
  double head_backward = 0.0;
  double head_weight = 0.0;
  double micro_batch_overhead = 0.0;
  double step_overhead = 0.0;
  double slowdown = 1.0;
};

/// The same, of layers summed up from the first one on: entry l is that of l layers.
struct TimeBound::LayerSums {
  std::vector<double> forward, backward, recompute, weight;
  LayerCosts costs;

  LayerSums(const LayerCosts& of, const std::vector<std::size_t>& kind_of_layer) : costs(of) {
    const auto summed = [&](double LayerCosts::Layer::*time) {
      std::vector<double> sums{0.0};
      sums.reserve(kind_of_layer.size() + 1);
      for (const std::size_t kind : kind_of_layer) {
        sums.push_back(sums.back() + of.layers[kind].*time);
      }
      return sums;
    };
    forward = summed(&LayerCosts::Layer::forward);
    backward = summed(&LayerCosts::Layer::backward);
    recompute = summed(&LayerCosts::Layer::recompute);
    weight = summed(&LayerCosts::Layer::weight);
  }

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
    const LayerCosts& others = other.costs;
    costs.embedding_forward = least(costs.embedding_forward, others.embedding_forward);
    costs.embedding_backward = least(costs.embedding_backward, others.embedding_backward);
    costs.head_forward = least(costs.head_forward, others.head_forward);
    costs.head_backward = least(costs.head_backward, others.head_backward);
    costs.head_weight = most(costs.head_weight, others.head_weight);
    costs.micro_batch_overhead = least(costs.micro_batch_overhead, others.micro_batch_overhead);
    costs.step_overhead = least(costs.step_overhead, others.step_overhead);
  }
};

/// How the model is cut: chunks by position, and which of them a stage has.
struct TimeBound::Cut {
  std::vector<LayerRange> chunks;
  std::vector<std::vector<int>> positions;  ///< by stage
};

TimeBound::TimeBound(const StrategySpace& space)
    : space_(space), recomputing_(*space.scenario().strategy) {
  const Model& model = space.scenario().model;
  for (int layer = 0; layer < model.layer_count(); ++layer) {
    kind_of_layer_.push_back(static_cast<std::size_t>(model.kind_of(layer)));
  }
}
TimeBound::~TimeBound() = default;

const std::vector<TimeBound::LayerCosts>& TimeBound::costs(const StrategyChoice& choice) {
  const Scenario& scenario = space_.scenario();
  // How far ranks of a group stand apart may depend on the other degrees.
  const bool is_in_row = std::ranges::is_sorted(scenario.placement.order);
  std::vector<LayerCosts>& costs =
      costs_[{choice.tensor_parallel, choice.context_parallel, choice.expert_parallel,
              choice.micro_batch, choice.recompute, space_.overlaps_backward(choice),
              is_in_row ? 0 : choice.data_parallel, is_in_row ? 0 : choice.pipeline_parallel}];
  for (int kind = static_cast<int>(costs.size()); kind < scenario.cluster->kinds(); ++kind) {
    costs.push_back(costs_on(choice, kind));
  }
  return costs;
}

const TimeBound::LayerSums& TimeBound::sums(const StrategyChoice& choice) {
  const std::vector<LayerCosts>& costs = this->costs(choice);
  if (&costs == sums_are_of_) return *sums_;
  sums_ = std::make_unique<LayerSums>(costs.front(), kind_of_layer_);
  for (std::size_t kind = 1; kind < costs.size(); ++kind) {
    sums_->keep_least_of({costs[kind], kind_of_layer_});
  }
  sums_are_of_ = &costs;
  return *sums_;
}

TimeBound::LayerCosts TimeBound::costs_on(const StrategyChoice& choice, int kind_of_node) const {
  const Scenario& scenario = space_.scenario();
  LayerCosts costs;
  const Strategy strategy = space_.strategy(choice);
  JobShape job;
  job.model = &scenario.model;
  job.strategy = &strategy;
  const ExchangePlaces places = best_places(strategy, *scenario.cluster, scenario.placement.order);
  job.cost = stage_cost(scenario.model, strategy, scenario.profiles().of(kind_of_node),
                        scenario.cluster->type_of_kind(kind_of_node), places);
  costs.slowdown = median_of_slowest(scenario.perturbation.device_spread, strategy.ranks()) *
                   median_of_slowest(scenario.perturbation.jitter,
                                     strategy.tensor_parallel * strategy.context_parallel);
  // No slow device stretches what is on the fabric, nor what the host does; the bound stretches all
  // that it adds up.
  const double as_it_is =
      scenario.perturbation.slow_accelerators.empty() ? 1.0 / costs.slowdown : 0.0;
  const auto stretchable = [&](const TimeByCause& time, const PassFlows& flows) {
    const Seconds kept = flows.awaited.total() + time[Cause::other];
    return (time.total() - (1.0 - as_it_is) * kept).count();
  };
  costs.layers.resize(scenario.model.kinds.size());
  std::vector<bool> is_known(scenario.model.kinds.size(), false);
  for (std::size_t layer = 0; layer < kind_of_layer_.size(); ++layer) {
    const std::size_t kind = kind_of_layer_[layer];
    if (is_known[kind]) continue;
    is_known[kind] = true;
    const Piece piece{.first_layer = static_cast<int>(layer), .layers = 1};
    Piece recomputed = piece;
    recomputed.recomputed = 1;
    const double backward = stretchable(backward_time(job, piece), backward_flows(job, piece));
    const double with_recompute =
        stretchable(backward_time(job, recomputed), backward_flows(job, recomputed));
    costs.layers[kind] = {
        .forward = stretchable(forward_time(job, piece), forward_flows(job, piece)),
        .backward = backward,
        .recompute = with_recompute - backward,
        .weight = weight_gradient_time(job, piece).total().count()};
  }
  for (const std::size_t kind : kind_of_layer_) {
    const LayerCosts::Layer& layer = costs.layers[kind];
    costs.whole.forward += layer.forward;
    costs.whole.backward += layer.backward;
    costs.whole.recompute += layer.recompute;
  }
  costs.embedding_forward = job.cost.embedding_forward.total().count();
  costs.embedding_backward = job.cost.embedding_backward.total().count();
  costs.head_forward = stretchable(job.cost.head_forward, job.cost.head_forward_flows);
  costs.head_backward = stretchable(job.cost.head_backward, job.cost.head_backward_flows);
  costs.head_weight = job.cost.head_weight.total().count();
  costs.micro_batch_overhead = as_it_is * job.cost.micro_batch_overhead.count();
  costs.step_overhead = as_it_is * job.cost.step_overhead.count();
  return costs;
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

double TimeBound::micro_batches(const StrategyChoice& choice) const {
  const std::int64_t together = choice.data_parallel * choice.micro_batch;
  const std::int64_t whole_ones = space_.scenario().strategy->global_batch / together;
  return static_cast<double>(whole_ones);
}

Seconds TimeBound::of_any_pipeline(const StrategyChoice& choice) {
  const std::vector<LayerCosts>& costs = this->costs(choice);
  const std::vector<LayerCosts>& of_others = this->costs(with_backward_of_others(choice));
  const auto least = [&](auto time) {
    double smallest = time(costs.front());
    for (const LayerCosts& of_kind : costs) smallest = std::min(smallest, time(of_kind));
    for (const LayerCosts& of_kind : of_others) smallest = std::min(smallest, time(of_kind));
    return smallest;
  };
  const Strategy& given = *space_.scenario().strategy;
  // Where only some layers of a chunk are recomputed, how many these are depends on the chunks.
  const bool is_partial = choice.recompute == given.recompute && given.recompute_layers > 0;
  const bool recomputes = choice.recompute != Recompute::none && !is_partial;
  const double forward = least([](const LayerCosts& of) { return of.whole.forward; }) +
                         least([](const LayerCosts& of) { return of.embedding_forward; }) +
                         least([](const LayerCosts& of) { return of.head_forward; });
  const double backward = least([](const LayerCosts& of) { return of.whole.backward; }) +
                          least([](const LayerCosts& of) { return of.embedding_backward; }) +
                          least([](const LayerCosts& of) { return of.head_backward; });
  const double recomputed =
      recomputes ? least([](const LayerCosts& of) { return of.whole.recompute; }) : 0.0;
  const double overhead = least([](const LayerCosts& of) { return of.micro_batch_overhead; });
  const double of_stage = (forward + backward + recomputed) / choice.pipeline_parallel + overhead;
  const double step = least([](const LayerCosts& of) { return of.step_overhead; });
  const double bound = micro_batches(choice) * of_stage + step;
  return Seconds(costs.front().slowdown * bound * kRounding * kRounding);
}

void TimeBound::sum_up_chunks(const StrategyChoice& choice, const LayerSums& sums, const Cut& cut) {
  const LayerCosts& costs = sums.costs;
  const Strategy& given = *space_.scenario().strategy;
  const bool splits = choice.schedule->splits_backward;
  const bool is_as_given = choice.recompute == given.recompute;
  recomputing_.recompute = choice.recompute;
  recomputing_.recompute_layers = is_as_given ? given.recompute_layers : 0;

  const std::size_t count = cut.chunks.size();
  const double overhead = costs.micro_batch_overhead / choice.virtual_stages;
  auto& [forward, awaited, weight] = chunk_sums_;
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
      pass += costs.embedding_forward;
      back += costs.embedding_backward;
      if (splits) weight[i] += costs.embedding_backward;
    }
    if (i + 1 == count) {
      pass += costs.head_forward;
      back += costs.head_backward;
      if (splits) weight[i] += costs.head_weight;
    }
    forward.push_back(forward.back() + pass);
    awaited.push_back(awaited.back() + back - weight[i]);
  }
}

Seconds TimeBound::bound_of(const StrategyChoice& choice) {
  const LayerSums& sums = this->sums(choice);
  const LayerCosts& costs = sums.costs;
  const Cut& cut = this->cut(choice);
  sum_up_chunks(choice, sums, cut);
  const auto& [forward, awaited, weight] = chunk_sums_;
  const Scenario& scenario = space_.scenario();
  const double passes = micro_batches(choice) / (choice.schedule->is_doubled() ? 2.0 : 1.0);
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
  return Seconds(costs.slowdown * (bound + costs.step_overhead) * kRounding);
}

}  // namespace headway
