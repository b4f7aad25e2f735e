#include "sim/plan/purchase_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/plan/planned_scenario.h"

namespace headway {
namespace {

/// A candidate that was read, with what reads it.
struct ReadCandidate {
  const CandidateCluster& candidate;
  PlanOptions options;
  Scenario base;
};

/// Reads all of them before anything is searched, so that all that is wrong is told at once. What
/// they share is told once.
std::vector<ReadCandidate> read_all(const PlanOptions& options,
                                    const std::vector<CandidateCluster>& candidates,
                                    Diagnostics& diagnostics) {
  std::vector<ReadCandidate> read;
  Diagnostics problems;
  for (const CandidateCluster& candidate : candidates) {
    PlanOptions own = options;
    set_override(own.leaders.options.overrides,
                 {"/candidate", nlohmann::json(candidate.name).dump()});
    try {
      Scenario base = read_planned(own, PlannedCluster::of_any_size, diagnostics);
      read.push_back({candidate, std::move(own), std::move(base)});
    } catch (const InputError& error) {
      for (Diagnostic problem : error.diagnostics()) {
        problem.message = fmt::format("{}: {}", in_quotes(candidate.name), problem.message);
        problems.add(std::move(problem));
      }
    }
  }
  problems.throw_if_errors();
  return read;
}

}  // namespace

PurchasePlan plan_purchase(const PlanOptions& options, const TrainingGoal& goal,
                           const std::vector<CandidateCluster>& candidates,
                           Diagnostics& diagnostics) {
  PurchasePlan plan{.goal = goal};
  double least = 0.0;
  for (const ReadCandidate& read : read_all(options, candidates, diagnostics)) {
    plan.model = read.base.model.name;
    const int delivered = delivered_nodes(read.candidate, read.base);
    plan.candidates.push_back(
        {read.candidate.name, plan_cluster(read.options, goal, read.base, delivered)});
    const ClusterSize* const found = plan.candidates.back().plan.found();
    if (found == nullptr) continue;
    const double value = minimised(*found, goal.minimize);
    if (plan.answer && value >= least) continue;
    plan.answer = plan.candidates.size() - 1;
    least = value;
  }
  return plan;
}

void check_plan_fields(const std::string& path, const ScenarioOptions& options,
                       Diagnostics& diagnostics) {
  const PlanFields fields = read_plan_fields(path, options, diagnostics);
  const auto gather = [&](const auto& read) {
    try {
      read();
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
    }
  };
  if (fields.goal) {
    gather([&] { static_cast<void>(parse_goal(*fields.goal, printable(path) + "   /goal")); });
  }
  const PlanOptions plan{.leaders = {.path = path, .options = options}};
  gather([&] { static_cast<void>(read_all(plan, fields.candidates, diagnostics)); });
}

}  // namespace headway
