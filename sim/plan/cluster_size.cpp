#include "sim/plan/cluster_size.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/base/byte_stream.h"
#include "sim/base/child_process.h"
#include "sim/layers/parameters.h"
#include "sim/plan/scenario_variant.h"
#include "sim/result/decision/run_time.h"
#include "sim/result/run_cost.h"
#include "sim/result/speed.h"
#include "sim/sweep/axis_field.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kLeaders = 3;      ///< simulated for each size
constexpr double kSlack = 0.25;          ///< and the fastest that leaves so much memory free
constexpr std::int64_t kRoomToGrow = 8;  ///< times the least that is possible
/// Parameter, gradient, fp32 copy and two moments: Rajbhandari et al. 2020, section 3.1.
constexpr double kBytesOfParameter = 16.0;

std::int64_t nodes_for(double share) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share)));
}

/// Of the whole run, where the scenario has prices.
std::optional<double> price_of(const Prediction& prediction) {
  const std::optional<RunCost> cost = run_cost(prediction);
  const std::optional<double> usd = cost && cost->run ? cost->run->usd() : std::nullopt;
  return usd && std::isfinite(*usd) ? usd : std::nullopt;
}

}  // namespace

ClusterSizes::ClusterSizes(const Scenario& base, const PlanOptions& options,
                           const TrainingGoal& goal)
    : base_(base), options_(options), goal_(goal) {
  options_.leaders.best = kLeaders;
}

std::int64_t ClusterSizes::least_nodes(Seconds deadline) const {
  const Strategy& strategy = base_.strategy;
  const double tokens_of_step =
      static_cast<double>(strategy.global_batch) * static_cast<double>(strategy.sequence_length);
  const Flops work = (goal_.tokens / tokens_of_step) * step_flops(base_.model, strategy).model;
  const FlopsPerSecond peak(base_.profile->device.peak_flops.at(strategy.precision).value);
  return nodes_for(work / peak / deadline / base_.cluster->node_type.accelerators);
}

std::int64_t ClusterSizes::most_nodes(Seconds deadline) const {
  const double parameters = headway::parameters(base_.model).total();
  const std::int64_t to_hold =
      nodes_for(kBytesOfParameter * parameters / base_.profile->device.memory_bytes.value /
                base_.cluster->node_type.accelerators);
  return kRoomToGrow * std::max(least_nodes(deadline), to_hold);
}

/// The batch that shares most with the number of accelerators, of those that the goal allows; of
/// equal ones the nearest to the scenario's.
ClusterSize ClusterSizes::with_batch(std::int64_t nodes) const {
  ClusterSize size;
  size.nodes = nodes;
  size.accelerators = nodes * base_.cluster->node_type.accelerators;
  const std::int64_t wanted = base_.strategy.global_batch;
  size.global_batch = wanted;
  const auto most = static_cast<std::int64_t>(goal_.batch_within * static_cast<double>(wanted));
  for (std::int64_t off = 1; off <= most; ++off) {
    for (const std::int64_t batch : {wanted + off, wanted - off}) {
      if (std::gcd(batch, size.accelerators) > std::gcd(size.global_batch, size.accelerators)) {
        size.global_batch = batch;
      }
    }
  }
  return size;
}

/// So that the answer, simulated, tells of this run.
std::vector<Override> ClusterSizes::goal_overrides() const {
  std::vector<Override> overrides;
  const json tokens = goal_.tokens;
  if (base_.reliability) {
    const json& given = base_.given->at("reliability");
    json reliability = given.is_object() ? given : base_.resolved->at("reliability");
    if (reliability.contains("duration")) {
      reliability.erase("duration");
      reliability["train_tokens"] = tokens;
      overrides.push_back({"/reliability", reliability.dump()});
    } else if (base_.reliability->train_tokens != goal_.tokens) {
      overrides.push_back({"/reliability/train_tokens", tokens.dump()});
    }
  }
  const json& resolved = base_.resolved;
  if (resolved.contains("cost") && resolved.at("cost").value("tokens", 0.0) != goal_.tokens) {
    overrides.push_back({"/cost/tokens", tokens.dump()});
  }
  return overrides;
}

std::optional<LeaderOptions> ClusterSizes::options_of(const ClusterSize& size) const {
  Scenario here = base_;
  here.strategy.global_batch = size.global_batch;
  (*here.resolved)["strategy"]["global_batch"] = size.global_batch;
  std::vector<Override> changes = goal_overrides();
  for (Override& field : point_overrides({{"nodes", size.nodes}}, base_)) {
    if (!field.pointer.starts_with("/strategy")) changes.push_back(std::move(field));
  }
  if (size.global_batch != base_.strategy.global_batch) {
    changes.push_back({"/strategy/global_batch", std::to_string(size.global_batch)});
  }
  return variant_options(options_, here, changes, size.accelerators);
}

double ClusterSizes::tokens_of_step(const ClusterSize& size) const {
  return static_cast<double>(size.global_batch) *
         static_cast<double>(base_.strategy.sequence_length);
}

/// As bytes: why nothing can run, else nothing, and the run's time by the closed form.
std::string ClusterSizes::estimated(const ClusterSize& size, const LeaderOptions& options) const {
  ByteWriter bytes;
  try {
    const Scenario scenario = read_variant(options, base_);
    const StrategySearch search =
        search_strategies(StrategySpace(scenario, options_.kept), {.best = 1});
    const bool fits = !search.ranked.empty();
    bytes.put(std::string(fits ? "" : "nothing fits in memory"));
    bytes.put(fits ? goal_.tokens / tokens_of_step(size) * search.ranked.front().time : Seconds());
  } catch (const InputError& error) {
    bytes.put(error.diagnostics().front().message);
    bytes.put(Seconds());
  }
  return bytes.take();
}

std::vector<ClusterSize> ClusterSizes::estimates(const std::vector<std::int64_t>& nodes) const {
  std::vector<ClusterSize> sizes;
  std::vector<std::function<std::string()>> tasks;
  std::vector<std::size_t> asked;  // sizes of the tasks
  for (const std::int64_t count : nodes) {
    ClusterSize& size = sizes.emplace_back(with_batch(count));
    const std::optional<LeaderOptions> options = options_of(size);
    if (!options) {
      size.reason = "no strategy divides it";
      continue;
    }
    asked.push_back(sizes.size() - 1);
    tasks.emplace_back([this, size, options] { return estimated(size, *options); });
  }
  std::vector<ChildOutcome> outcomes = run_in_children(tasks, options_.leaders.jobs);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ClusterSize& size = sizes[asked[i]];
    const std::string answer = output_or_throw(std::move(outcomes[i]));
    ByteReader bytes(answer);
    bytes.get(size.reason);
    bytes.get(size.closed_form);
  }
  return sizes;
}

ClusterRun ClusterSizes::run_of(const ClusterSize& size, Leader leader) const {
  const Prediction& prediction = leader.prediction;
  ClusterRun run;
  run.training = goal_.tokens / tokens_of_step(size) * leader.time();
  const RunTime time = run_time(prediction, goal_.tokens);
  run.median = time.at(0.5);
  run.needed = time.at(goal_.probability);
  run.probability = time.probability(goal_.deadline);
  run.usd = price_of(prediction);
  run.leader = std::move(leader);
  return run;
}

void ClusterSizes::simulate(ClusterSize& size) const {
  LeaderOptions options = *options_of(size);
  options.slacks = {kSlack};
  const Scenario scenario = read_variant(options, base_);
  const StrategySpace space(scenario, options_.kept);
  StrategySearch search;
  for (Leader& leader : simulated_leaders(space, options, search)) {
    size.runs.push_back(run_of(size, std::move(leader)));
  }
}

}  // namespace headway
