#include "sim/plan/strategy_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/files/read_memory.h"
#include "sim/jobs/strategy.h"
#include "sim/plan/planned_scenario.h"
#include "sim/sweep/axis_field.h"
#include "sim/sweep/sweep_point.h"

namespace headway {
namespace {

constexpr int kMostTimes = 64;  ///< the cluster, when looking for one that is large enough

/// The least multiple of the cluster that something fits on.
std::optional<std::int64_t> fitting_accelerators(const PlanOptions& options, const Scenario& base) {
  for (int times = 2; times <= kMostTimes; times *= 2) {
    ScenarioOptions larger = options.leaders.options;
    for (Override& field : point_overrides({{"nodes", times * base.cluster->nodes}}, base)) {
      larger.overrides.push_back(std::move(field));
    }
    try {
      Diagnostics ignored;
      const Scenario scenario = read_scenario(options.leaders.path, larger, ignored);
      if (has_fitting_strategy(options.space(scenario))) {
        return scenario.accelerators();
      }
    } catch (const InputError&) {
      return std::nullopt;  // the fabric is full, or the batch too small
    }
  }
  return std::nullopt;
}

/// Of tables that no degree makes smaller: whole ones stand on one rank each, however many there
/// are.
std::optional<TablePlacement> fitting_placement(const PlanOptions& options, const Scenario& base) {
  if (std::ranges::all_of(base.model.kinds,
                          [](const Layer& kind) { return kind.tables.empty(); })) {
    return std::nullopt;
  }
  for (const TablePlacement placement :
       {TablePlacement::balanced, TablePlacement::row, TablePlacement::column}) {
    Scenario changed = base;
    changed.change_strategy([&](Strategy& strategy) {
      strategy.tables.placement = placement;
      if (placement != TablePlacement::balanced) strategy.tables.group = 1;
    });
    if (has_fitting_strategy(options.space(changed))) return placement;
  }
  return std::nullopt;
}

}  // namespace

StrategyPlan plan_strategy(const PlanOptions& options, Diagnostics& diagnostics) {
  PlanOptions planned = options;
  // The scenario is read again for each leader, with another strategy.
  ScenarioOptions& reading = planned.leaders.options;
  if (reading.memory == nullptr) reading.memory = std::make_shared<ReadMemory>();
  const Scenario scenario = read_planned(planned, PlannedCluster::as_given, diagnostics);
  return plan_strategy(planned, scenario);
}

StrategyPlan plan_strategy(const PlanOptions& options, const Scenario& scenario) {
  const StrategySpace space = options.space(scenario);
  StrategyPlan plan;
  plan.model = scenario.model.name;
  plan.cluster = scenario.cluster->name;
  plan.accelerators = scenario.accelerators();
  plan.global_batch = scenario.samples_of_step();
  plan.capacity = scenario.least_memory();
  LeaderOptions leaders = options.leaders;
  leaders.slacks = {0.25, 0.5};
  plan.leaders = simulated_leaders(space, leaders, plan.search);
  if (plan.leaders.empty()) {
    if (plan.search.smallest) plan.closest = space.fields(*plan.search.smallest);
    plan.accelerators_that_fit = fitting_accelerators(options, scenario);
    plan.placement_that_fits = fitting_placement(options, scenario);
    return plan;
  }
  plan.command_line = simulate_line(options.leaders.path, plan.leaders.front().options);
  plan.unsaid = unsaid_choice(options, plan.leaders.front());
  return plan;
}

}  // namespace headway
