#include "sim/plan/plan_reading.h"

#include <fmt/format.h>

#include <variant>

#include "sim/base/quantity_text.h"
#include "sim/plan/goal.h"
#include "sim/plan/planned_scenario.h"
#include "sim/result/number_text.h"
#include "sim/scenario/candidates.h"

namespace headway {

std::optional<PlanReading> plan_reading(const std::string& path, const ScenarioOptions& options,
                                        Diagnostics& diagnostics) {
  if (path == "-") return {};
  Diagnostics own;
  const PlanFields fields = read_plan_fields(path, options, own);
  if (own.has_errors()) return {};
  PlanOptions plan{.leaders = {.path = path, .options = options}};
  try {
    bool finds_nodes = !fields.candidates.empty();
    if (fields.goal) {
      const Goal goal = parse_goal(*fields.goal, fields.goal_place);
      if (const auto* const training = std::get_if<TrainingGoal>(&goal)) {
        plan.leaders.options.train_tokens = training->tokens;
        finds_nodes = true;
      }
    }
    const Scenario scenario = read_planned(
        plan, finds_nodes ? PlannedCluster::of_any_size : PlannedCluster::as_given, own);
    diagnostics.append(own);
    const std::string size =
        finds_nodes ? "as many as the goal needs" : counted(scenario.accelerators(), "GPU");
    return PlanReading{
        .is_meant = fields.goal || !fields.candidates.empty(),
        .about = fmt::format("{} on {}, {}", scenario.model.name, scenario.cluster->name, size)};
  } catch (const InputError&) {
    return {};  // what is wrong is told as it stands in the scenario
  }
}

}  // namespace headway
