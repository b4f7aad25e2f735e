#include "sim/plan/plan_question.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/utf8.h"
#include "sim/plan/planned_scenario.h"

namespace headway {
namespace {

constexpr std::int64_t kUsualLeaders = 10;

/// A value of --set that is a text may be written as JSON has it.
std::string unquoted(const std::string& text) {
  const bool is_quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

const Leader* first_of(const std::vector<Leader>& leaders) {
  return leaders.empty() ? nullptr : &leaders.front();
}

/// What else is wrong, so that it is told with what is.
void add_problems_of_scenario(const PlanQuestion& question, Diagnostics& diagnostics) {
  PlanOptions options = question.options;
  if (options.leaders.path == "-") return;
  if (!question.candidates.empty()) {
    check_candidates(options, question.candidates, nullptr, diagnostics);
    return;
  }
  Diagnostics found;
  try {
    static_cast<void>(read_planned(options, PlannedCluster::of_any_size, found));
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
  }
}

}  // namespace

PlanQuestion read_plan_question(PlanOptions options, const std::optional<std::string>& goal,
                                std::optional<std::int64_t> best, Diagnostics& diagnostics) {
  PlanQuestion question;
  question.options = std::move(options);
  LeaderOptions& leaders = question.options.leaders;
  const PlanFields fields = read_plan_fields(leaders.path, leaders.options, diagnostics);
  question.candidates = fields.candidates;
  // Without the candidates that it has, a scenario lacks what they would say.
  const bool is_whole = !diagnostics.has_errors() || !question.candidates.empty();
  for (const Override& field : leaders.options.overrides) {  // one of them was asked for
    if (field.pointer != "/candidate") continue;
    std::erase_if(question.candidates, [&](const CandidateCluster& candidate) {
      return candidate.name != unquoted(field.value_text);
    });
  }
  try {
    if (goal) {
      question.goal = parse_goal(*goal);
    } else if (fields.goal) {
      question.goal = parse_goal(*fields.goal, fields.goal_place);
    }
  } catch (const InputError& error) {
    for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
  }
  const bool is_training = question.goal && std::holds_alternative<TrainingGoal>(*question.goal);
  if (question.candidates.size() > 1 && !is_training && !diagnostics.has_errors()) {
    diagnostics.add({.message = "several candidates need a goal to choose by",
                     .location = {.file = printable(leaders.path)},
                     .help = "write \"goal\": \"tokens=2T deadline=30d\" beside them, or --goal; "
                             "--set /candidate=NAME takes one"});
  }
  if (is_training) {
    leaders.options.train_tokens = std::get<TrainingGoal>(*question.goal).tokens;
    if (fields.post_training) {
      Diagnostic problem = *fields.post_training;
      problem.message = "a goal in tokens is of training alone";
      problem.label = "a step of post_training generates as well, and its tokens are not counted";
      problem.help = "leave the goal out for the best strategy on this cluster, or post_training";
      diagnostics.add(std::move(problem));
    }
  }
  const bool asks_for_size = question.goal && std::holds_alternative<LargestGoal>(*question.goal);
  leaders.best = static_cast<std::size_t>(best.value_or(asks_for_size ? 1 : kUsualLeaders));
  check_plan(question.options, diagnostics);
  if (diagnostics.has_errors() && is_whole) add_problems_of_scenario(question, diagnostics);
  diagnostics.throw_if_errors();
  return question;
}

Plan planned(const PlanQuestion& question, Diagnostics& diagnostics) {
  const PlanOptions& options = question.options;
  if (!question.goal) return plan_strategy(options, diagnostics);
  if (const auto* const largest = std::get_if<LargestGoal>(&*question.goal)) {
    return plan_largest(options, *largest, diagnostics);
  }
  const auto& goal = std::get<TrainingGoal>(*question.goal);
  if (question.candidates.empty()) return plan_cluster(options, goal, diagnostics);
  return plan_purchase(options, goal, question.candidates, diagnostics);
}

const Leader* best_of(const Plan& plan) {
  if (const auto* const strategy = std::get_if<StrategyPlan>(&plan)) {
    return first_of(strategy->leaders);
  }
  if (const auto* const largest = std::get_if<LargestPlan>(&plan)) {
    return largest->plan ? first_of(largest->plan->leaders) : nullptr;
  }
  if (const auto* const cluster = std::get_if<ClusterPlan>(&plan)) {
    const ClusterSize* const found = cluster->found();
    return found != nullptr ? &found->runs.front().leader : nullptr;
  }
  const CandidatePlan* const found = std::get<PurchasePlan>(plan).found();
  return found != nullptr ? &found->plan.found()->runs.front().leader : nullptr;
}

}  // namespace headway
