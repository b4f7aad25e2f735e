#include "sim/programs/group_costs.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "sim/costs/kernel_cost.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/parameters.h"
#include "sim/programs/pieces/stage_pieces.h"
#include "sim/programs/stage_costs/optimizer_cost.h"

namespace headway {
namespace {

/// What all layers and the head take, there and back.
Seconds passes_time(const Model& model, const StageCost& cost) {
  const std::vector<int> counts = kinds_of_layers(model, {0, model.layer_count()});
  Seconds time = cost.head_forward.total() + cost.head_backward.total();
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const LayerCost& layer = cost.layers[kind];
    time += counts[kind] * (layer.forward.total() + layer.backward.total());
  }
  return time;
}

GroupCosts costs_on(const Model& model, const Strategy& strategy, const Profile& profile,
                    const NodeType& node, const ExchangePlaces& places) {
  const double tensor = largest_tensor(model, rank_shape_of(strategy));
  const Optimizer& optimizer = *strategy.optimizer;
  const auto seconds = [&](const Optimizer& of, double updated, double held) {
    return optimizer_time(profile, strategy, of, held, updated, tensor).count();
  };
  return {.stage = stage_cost(model, strategy, profile, node, places),
          .memory_seconds_per_byte = 1.0 / streaming_rate(profile).count(),
          .optimizer_seconds_per_parameter = seconds(optimizer, 1.0, 0.0),
          .end_seconds_per_parameter = seconds(beside(optimizer), 1.0, 0.0),
          .norm_seconds_per_parameter = seconds(optimizer, 0.0, 1.0)};
}

/// What one micro-batch takes a stage of its own, there and back.
Seconds stage_pass_time(const JobShape& job, int stage) {
  Seconds time;
  for (int chunk = 0; chunk < job.strategy->chunks_of_stage(); ++chunk) {
    const int position =
        chunk_position(*job.strategy->schedule, stage, chunk, job.strategy->pipeline_parallel);
    for (const Piece& piece : chunk_pieces(job, position)) {
      time += forward_time(job, piece).total() + backward_time(job, piece).total();
    }
  }
  return time;
}

}  // namespace

void GroupCosts::put_into(JobShape& job) const {
  job.cost = stage;
  job.memory_seconds_per_byte = memory_seconds_per_byte;
  job.optimizer_seconds_per_parameter = optimizer_seconds_per_parameter;
  job.end_seconds_per_parameter = end_seconds_per_parameter;
  job.norm_seconds_per_parameter = norm_seconds_per_parameter;
}

std::vector<GroupCosts> group_costs(const Model& model, const Strategy& strategy,
                                    const KindProfiles& profiles, const Cluster& cluster,
                                    const std::vector<GroupClass>& classes) {
  std::vector<GroupCosts> costs;
  for (const GroupClass& ranks : classes) {
    GroupCosts slowest;
    for (const int kind : ranks.kinds) {
      GroupCosts of_kind =
          costs_on(model, strategy, profiles.of(kind), cluster.type_of_kind(kind), ranks.places);
      const bool is_first = kind == ranks.kinds.front();
      if (is_first || passes_time(model, of_kind.stage) > passes_time(model, slowest.stage)) {
        slowest = std::move(of_kind);
      }
    }
    costs.push_back(std::move(slowest));
  }
  return costs;
}

StageCost widest_cost(const std::vector<GroupCosts>& costs) {
  StageCost cost = costs.front().stage;
  for (const GroupCosts& other : costs) {
    cost.spread = std::max(cost.spread, other.stage.spread);
    cost.extrapolated = cost.extrapolated || other.stage.extrapolated;
  }
  return cost;
}

std::vector<std::int64_t> micro_batches_of_replicas(
    const JobShape& job, const std::vector<GroupCosts>& costs, const ExchangeLayout& layout,
    const std::function<double(int replica, int stage)>& slowness) {
  const Strategy& strategy = *job.strategy;
  const auto replicas = static_cast<std::size_t>(strategy.data_parallel);
  std::vector<std::int64_t> shares(replicas, strategy.micro_batches());
  if (!strategy.micro_batches_by_speed) return shares;

  const int stages = strategy.pipeline_parallel;
  JobShape of_class = job;
  std::map<std::pair<int, std::size_t>, Seconds> known;  // by stage and class
  std::vector<double> pace(replicas);                    // of a micro-batch
  for (std::size_t replica = 0; replica < replicas; ++replica) {
    for (int stage = 0; stage < stages; ++stage) {
      const std::size_t ranks = layout.class_of(static_cast<int>(replica), stage);
      const auto [entry, is_new] = known.try_emplace({stage, ranks});
      if (is_new) {
        costs[ranks].put_into(of_class);
        entry->second = stage_pass_time(of_class, stage);
      }
      const double here = entry->second.count() * slowness(static_cast<int>(replica), stage);
      pace[replica] = std::max(pace[replica], here);
    }
  }
  using End = std::pair<double, std::size_t>;  // if it had one more, and of which replica
  std::priority_queue<End, std::vector<End>, std::greater<>> next;
  const auto end_with = [&](std::size_t replica, std::int64_t share) {
    return pace[replica] * static_cast<double>(share + stages - 1);
  };
  for (std::size_t replica = 0; replica < replicas; ++replica) {
    shares[replica] = 1;  // without any it would have nothing to reduce
    next.emplace(end_with(replica, 2), replica);
  }
  std::int64_t left = strategy.micro_batches() * strategy.data_parallel - strategy.data_parallel;
  for (; left > 0; --left) {
    const std::size_t replica = next.top().second;
    next.pop();
    ++shares[replica];
    next.emplace(end_with(replica, shares[replica] + 1), replica);
  }
  return shares;
}

}  // namespace headway
