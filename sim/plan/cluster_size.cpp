#include "sim/plan/cluster_size.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/base/byte_stream.h"
#include "sim/base/child_process.h"
#include "sim/files/json_text.h"
#include "sim/jobs/step_flops.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/parameters.h"
#include "sim/plan/scenario_variant.h"
#include "sim/result/decision/run_time.h"
#include "sim/result/run_cost.h"
#include "sim/sweep/axis_field.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kLeaders = 3;      ///< simulated for each size, at least
constexpr std::size_t kMost = 16;        ///< and at most: there are many sizes
constexpr double kSlack = 0.25;          ///< and the fastest that leaves so much memory free
constexpr std::int64_t kRoomToGrow = 8;  ///< times the least that is possible
/// Parameter, gradient, fp32 copy and two moments: Rajbhandari et al. 2020, section 3.1.
constexpr double kBytesOfParameter = 16.0;

std::int64_t nodes_for(double share) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share)));
}

std::optional<double> finite(std::optional<double> usd) {
  return usd && std::isfinite(*usd) ? usd : std::nullopt;
}

/// The next multiple of the step.
std::int64_t in_steps(std::int64_t nodes, std::int64_t step) {
  return (nodes + step - 1) / step * step;
}

int nodes_of_domain(const Cluster& cluster) {
  return std::max(1, cluster.scale_up_domain / cluster.node_type.accelerators);
}

bool is_of_fabric(const Diagnostic& problem) {
  return problem.severity == Severity::error &&
         (problem.pointer.find("/fabric") != std::string::npos ||
          problem.pointer.ends_with("/cluster/nodes"));
}

}  // namespace

Shortfall shortfall(const ClusterSize& size, const TrainingGoal& goal) {
  Shortfall missing;
  if (goal.power && size.power) missing.power = max(Watts(0.0), *size.power - *goal.power);
  if (size.runs.empty()) return missing;
  const ClusterRun& run = size.runs.front();
  missing.time = max(Seconds(0.0), run.needed - goal.deadline);
  if (goal.budget && run.outlay_interval) {
    missing.usd = std::max(0.0, run.outlay_interval->high - *goal.budget);
  }
  return missing;
}

double distance(const ClusterSize& size, const TrainingGoal& goal) {
  const Shortfall missing = shortfall(size, goal);
  const double late = missing.time / goal.deadline;
  const double dear = goal.budget ? missing.usd / *goal.budget : 0.0;
  const double hungry = goal.power ? missing.power / *goal.power : 0.0;
  return std::max({late, dear, hungry});
}

double minimised(const ClusterSize& size, TrainingGoal::Minimize minimize) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const ClusterRun& run = size.runs.front();
  switch (minimize) {
    case TrainingGoal::Minimize::gpus:
      return static_cast<double>(size.accelerators);
    case TrainingGoal::Minimize::cost:
      return run.usd.value_or(kNever);
    case TrainingGoal::Minimize::days:
      return run.needed.count();
    case TrainingGoal::Minimize::energy:
      return run.energy ? run.energy->count() : kNever;
  }
  HEADWAY_CHECK(false, "unknown goal");
}

ClusterSizes::ClusterSizes(const Scenario& base, const PlanOptions& options,
                           const TrainingGoal& goal, std::optional<int> delivered)
    : base_(base),
      options_(options),
      goal_(goal),
      step_(delivered.value_or(nodes_of_domain(*base.cluster))) {
  options_.leaders.best = kLeaders;
  options_.leaders.most = kMost;
}

std::int64_t ClusterSizes::least_nodes(Seconds deadline) const {
  const Strategy& strategy = *base_.strategy;
  const double tokens_of_step = static_cast<double>(strategy.global_batch) * tokens_of_sample();
  const Flops work = (goal_.tokens / tokens_of_step) * step_flops(base_.model, strategy).model;
  const FlopsPerSecond peak(base_.profile->device.peak_flops.at(strategy.precision).value);
  const double nodes = work / peak / deadline / base_.cluster->node_type.accelerators;
  return in_steps(nodes_for(nodes), step_);
}

std::int64_t ClusterSizes::most_nodes(Seconds deadline) const {
  const double parameters = headway::parameters(base_.model).total();
  const std::int64_t to_hold =
      nodes_for(kBytesOfParameter * parameters / base_.profile->device.memory_bytes.value /
                base_.cluster->node_type.accelerators);
  return in_steps(kRoomToGrow * std::max(least_nodes(deadline), to_hold), step_);
}

std::string ClusterSizes::why_no_room(std::int64_t nodes) const {
  if (nodes <= base_.cluster->nodes) return "";
  ScenarioOptions options = options_.leaders.options;
  for (Override& field : point_overrides({{"nodes", nodes}}, base_)) {
    set_override(options.overrides, std::move(field));
  }
  try {
    Diagnostics ignored;
    static_cast<void>(read_scenario(options_.leaders.path, options, ignored));
  } catch (const InputError& error) {
    // Whether strategy and batch go with so many is another question.
    const auto& problems = error.diagnostics();
    const auto of_fabric = std::ranges::find_if(problems, is_of_fabric);
    if (of_fabric != problems.end()) return of_fabric->message;
  }
  return "";
}

bool ClusterSizes::is_worth_judging(std::int64_t nodes) const {
  const std::int64_t round = goal_.batch_within > 0.0 ? 64 : 512;
  const std::int64_t steps = nodes / step_;
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(steps)));
  return steps % std::max<std::int64_t>(1, power / round) == 0;
}

std::optional<std::int64_t> ClusterSizes::most_nodes_affordable() const {
  const json& scenario = base_.resolved;
  const auto nodes = static_cast<double>(base_.cluster->nodes);
  const int per_node = base_.cluster->node_type.accelerators;
  double most = std::numeric_limits<double>::infinity();
  if (goal_.power) {
    json without_switches = scenario;
    if (scenario.contains("cost") && scenario.at("cost").contains("power")) {
      without_switches["cost"]["power"].erase("fabric");
    }
    const auto one = peak_power(without_switches, 1, per_node);
    const auto two = peak_power(without_switches, 2, std::int64_t{2} * per_node);
    // Spare nodes draw power too, as many whatever the size.
    if (one && *two > *one) most = 1.0 + (*goal_.power - *one) / (*two - *one);
  }
  if (const auto bought = bought_usd(scenario); goal_.budget && bought && *bought > 0.0) {
    const json& purchase = scenario.at("cost").at("purchase");
    const double of_node = purchase.value("usd_per_node", *bought / nodes);
    if (of_node > 0.0) most = std::min(most, *goal_.budget / of_node);
  }
  if (!std::isfinite(most)) return std::nullopt;
  return static_cast<std::int64_t>(std::max(most, 0.0)) / step_ * step_;
}

/// The batch that shares most with the number of accelerators, of those that the goal allows; of
/// equal ones the nearest to the scenario's.
ClusterSize ClusterSizes::with_batch(std::int64_t nodes) const {
  ClusterSize size;
  size.nodes = nodes;
  size.accelerators = nodes * base_.cluster->node_type.accelerators;
  const std::int64_t wanted = base_.samples_of_step();
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
      overrides.push_back({"/reliability", compact_json(reliability)});
    } else if (!given.is_object() || given.value("train_tokens", json()) != tokens) {
      overrides.push_back({"/reliability/train_tokens", compact_json(tokens)});
    }
  }
  const json& resolved = base_.resolved;
  if (!resolved.contains("cost")) {
    const json cost = {{"tokens", tokens}};
    if (!base_.reliability) overrides.push_back({"/cost", compact_json(cost)});
  } else if (resolved.at("cost").value("tokens", 0.0) != goal_.tokens) {
    overrides.push_back({"/cost/tokens", compact_json(tokens)});
  }
  return overrides;
}

std::optional<LeaderOptions> ClusterSizes::options_of(const ClusterSize& size) const {
  Scenario here = base_;
  here.change_strategy([&](Strategy& strategy) { strategy.global_batch = size.global_batch; });
  (*here.resolved)["strategy"]["global_batch"] = size.global_batch;
  std::vector<Override> changes = goal_overrides();
  for (Override& field : point_overrides({{"nodes", size.nodes}}, base_)) {
    if (!field.pointer.starts_with("/strategy")) changes.push_back(std::move(field));
  }
  if (size.global_batch != base_.samples_of_step()) {
    changes.push_back({"/strategy/global_batch", std::to_string(size.global_batch)});
  }
  return variant_options(options_, here, changes, size.accelerators);
}

/// A model without tokens counts samples: an image is one, however many patches it has.
double ClusterSizes::tokens_of_sample() const {
  return base_.model.has_tokens ? static_cast<double>(base_.strategy->sequence_length) : 1.0;
}

double ClusterSizes::tokens_of_step(const ClusterSize& size) const {
  return static_cast<double>(size.global_batch) * tokens_of_sample();
}

/// As bytes: why nothing can run, else nothing; the run's time by the closed form; what the size
/// draws and costs before it runs.
std::string ClusterSizes::estimated(const ClusterSize& size, const LeaderOptions& options) const {
  std::string reason;
  Seconds closed_form;
  std::optional<Watts> power;
  std::optional<double> bought;
  try {
    const Scenario scenario = read_variant(options, base_);
    power = peak_power(scenario.resolved, size.nodes, size.accelerators);
    bought = bought_usd(scenario.resolved);
    const StrategySearch search = search_strategies(options_.space(scenario), {.best = 1});
    if (search.ranked.empty()) {
      reason = "nothing fits in memory";
    } else {
      closed_form = goal_.tokens / tokens_of_step(size) * search.ranked.front().time;
    }
  } catch (const InputError& error) {
    reason = error.diagnostics().front().message;
  }
  ByteWriter bytes;
  bytes.put(reason);
  bytes.put(closed_form);
  bytes.put(power);
  bytes.put(bought);
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
    bytes.get(size.power);
    bytes.get(size.bought);
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
  if (const std::optional<RunCost> cost = run_cost(prediction); cost && cost->run) {
    run.usd = finite(cost->run->usd());
    run.energy = cost->run->energy;
    run.outlay = finite(cost->run->outlay());
    if (run.usd) run.usd_interval = cost->run->usd_interval();
    if (run.outlay) run.outlay_interval = cost->run->outlay_interval();
  }
  run.leader = std::move(leader);
  return run;
}

void ClusterSizes::simulate(ClusterSize& size) const {
  LeaderOptions options = *options_of(size);
  options.slacks = {kSlack};
  const Scenario scenario = read_variant(options, base_);
  const StrategySpace space = options_.space(scenario);
  size.bill = bill_of_materials(*scenario.cluster);
  StrategySearch search;
  for (Leader& leader : simulated_leaders(space, options, search)) {
    size.runs.push_back(run_of(size, std::move(leader)));
  }
}

}  // namespace headway
