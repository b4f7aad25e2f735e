#include "sim/plan/cluster_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/plan/cluster_search.h"
#include "sim/plan/planned_scenario.h"

namespace headway {
namespace {

ClusterPlan described(const Scenario& base, const TrainingGoal& goal, const ClusterSizes& judge) {
  ClusterPlan plan;
  plan.model = base.model.name;
  plan.cluster = base.cluster->name;
  plan.counts_tokens = base.model.has_tokens;
  plan.goal = goal;
  plan.delivered = judge.step();
  plan.counts_failures = base.reliability.has_value();
  plan.capacity = base.least_memory();
  return plan;
}

/// `shows_front`: larger sizes are simulated for it.
ClusterPlan searched(const Scenario& base, const TrainingGoal& goal, const ClusterSizes& judge,
                     bool shows_front) {
  ClusterPlan plan = described(base, goal, judge);
  ClusterSearch search(judge, goal);
  search.find();
  if (search.has_answer() && shows_front) search.simulate_larger();
  if (!search.has_answer()) plan.nearest = search.nearest();
  std::move(search).hand_over(plan);
  return plan;
}

ClusterPlan with_unsaid(ClusterPlan plan, const PlanOptions& options) {
  if (const ClusterSize* const found = plan.found()) {
    plan.unsaid = unsaid_choice(options, found->runs.front().leader);
  }
  return plan;
}

}  // namespace

const ClusterSize* ClusterPlan::closest_smaller() const {
  const ClusterSize* fastest = nullptr;
  for (std::size_t i = 0; i < answer.value_or(0); ++i) {
    if (!sizes[i].can_run()) continue;
    if (fastest == nullptr || sizes[i].closed_form < fastest->closed_form) fastest = &sizes[i];
  }
  return fastest;
}

void check_weighed(const Scenario& base, const TrainingGoal& goal, Diagnostics& diagnostics) {
  using Minimize = TrainingGoal::Minimize;
  const nlohmann::json& resolved = base.resolved;
  const nlohmann::json cost = resolved.value("cost", nlohmann::json::object());
  const bool has_price = cost.contains("usd_per_gpu_hour") || cost.contains("purchase");
  const bool has_power = cost.contains("power");
  const auto report = [&](std::string message, const char* word, const char* help) {
    Diagnostic problem;
    problem.message = std::move(message);
    problem.location.file = fmt::format("--goal {}", word);
    problem.help = help;
    diagnostics.add(std::move(problem));
  };
  constexpr const char* kPrice =
      "give one in the scenario, or with --set /cost/usd_per_gpu_hour=2.5";
  constexpr const char* kPower =
      "give it in the scenario, or with --set /cost/power/node='10.2 kW'";
  if (goal.minimize == Minimize::cost && !has_price) {
    report("the cheapest cluster needs a price", "minimize=cost", kPrice);
  }
  if (goal.budget && !has_price) report("a budget needs a price", "budget", kPrice);
  if (goal.minimize == Minimize::energy && !has_power) {
    report("the least energy needs a power", "minimize=energy", kPower);
  }
  if (goal.power && !has_power) report("a limit of power needs a power", "power", kPower);
  if (base.cluster->kinds() > 1) {
    Diagnostic problem;
    problem.message = "how many nodes of several kinds a goal needs is not searched";
    problem.label = "the nodes have " + base.cluster->accelerator_names();
    problem.pointer = "/cluster/topology/other_nodes";
    problem.help = "leave the goal out: the best strategy on the nodes that there are";
    diagnostics.add(std::move(problem));
  }
  const bool is_bounded = goal.power || cost.contains("purchase");
  if (goal.minimize == Minimize::days && has_price && !is_bounded) {
    report("a rented cluster costs much the same, however large: a budget does not bound it",
           "minimize=days", "add power=2MW, or a price of purchase");
  }
}

ClusterPlan plan_cluster(const PlanOptions& options, const TrainingGoal& goal,
                         Diagnostics& diagnostics) {
  PlanOptions planned = options;
  const Scenario base = read_planned(planned, PlannedCluster::of_any_size, diagnostics);
  check_weighed(base, goal, diagnostics);
  diagnostics.throw_if_errors();
  return with_unsaid(searched(base, goal, ClusterSizes(base, planned, goal), true), options);
}

ClusterPlan plan_cluster(const PlanOptions& options, const TrainingGoal& goal, const Scenario& base,
                         int delivered) {
  return with_unsaid(searched(base, goal, ClusterSizes(base, options, goal, delivered), false),
                     options);
}

}  // namespace headway
