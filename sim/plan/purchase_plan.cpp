#include "sim/plan/purchase_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/join_words.h"
#include "sim/base/utf8.h"
#include "sim/files/json_text.h"
#include "sim/plan/planned_scenario.h"

namespace headway {
namespace {

/// A candidate that was read, with what reads it.
struct ReadCandidate {
  const CandidateCluster& candidate;
  PlanOptions options;
  Scenario base;
};

/// Problems of candidates that were read one after the other.
class CandidateProblems {
 public:
  void add(const std::string& candidate, const std::vector<Diagnostic>& problems) {
    for (const Diagnostic& problem : problems) {
      const auto known = std::ranges::find_if(
          found_, [&](const Found& other) { return rendered(other.problem) == rendered(problem); });
      Found& found = known == found_.end() ? found_.emplace_back(Found{problem, {}}) : *known;
      const std::string name = in_quotes(candidate);
      if (found.candidates.empty() || found.candidates.back() != name) {
        found.candidates.push_back(name);
      }
    }
  }

  /// Each that is not told yet; who has it stands before it, unless all do.
  void tell(std::size_t candidates, Diagnostics& diagnostics) const {
    for (const Found& found : found_) {
      if (std::ranges::any_of(diagnostics.all(), [&](const Diagnostic& told) {
            return rendered(told) == rendered(found.problem);
          })) {
        continue;
      }
      Diagnostic problem = found.problem;
      if (found.candidates.size() < candidates) {
        problem.message =
            fmt::format("{}: {}", join_words(found.candidates, ", "), problem.message);
      }
      diagnostics.add(std::move(problem));
    }
  }

 private:
  struct Found {
    Diagnostic problem;
    std::vector<std::string> candidates;
  };
  std::vector<Found> found_;
};

/// Reads all of them before anything is searched, so that all that is wrong is told at once.
std::vector<ReadCandidate> read_all(const PlanOptions& options,
                                    const std::vector<CandidateCluster>& candidates,
                                    const TrainingGoal* goal, Diagnostics& diagnostics) {
  std::vector<ReadCandidate> read;
  CandidateProblems problems;
  for (const CandidateCluster& candidate : candidates) {
    PlanOptions own = options;
    set_override(own.leaders.options.overrides,
                 {"/candidate", compact_json(nlohmann::json(candidate.name))});
    Diagnostics found;
    try {
      Scenario base = read_planned(own, PlannedCluster::of_any_size, found);
      if (goal != nullptr) check_weighed(base, *goal, found);
      problems.add(candidate.name, found.all());
      read.push_back({candidate, std::move(own), std::move(base)});
    } catch (const InputError& error) {
      problems.add(candidate.name, error.diagnostics());
    }
  }
  problems.tell(candidates.size(), diagnostics);
  return read;
}

}  // namespace

PurchasePlan plan_purchase(const PlanOptions& options, const TrainingGoal& goal,
                           const std::vector<CandidateCluster>& candidates,
                           Diagnostics& diagnostics) {
  const std::vector<ReadCandidate> all = read_all(options, candidates, &goal, diagnostics);
  diagnostics.throw_if_errors();
  PurchasePlan plan{.goal = goal};
  double least = 0.0;
  for (const ReadCandidate& read : all) {
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

void check_candidates(const PlanOptions& options, const std::vector<CandidateCluster>& candidates,
                      const TrainingGoal* goal, Diagnostics& diagnostics) {
  static_cast<void>(read_all(options, candidates, goal, diagnostics));
}

void check_plan_fields(const std::string& path, const ScenarioOptions& options,
                       Diagnostics& diagnostics) {
  const PlanFields fields = read_plan_fields(path, options, diagnostics);
  std::optional<Goal> goal;
  if (fields.goal) {
    try {
      goal = parse_goal(*fields.goal, fields.goal_place);
    } catch (const InputError& error) {
      for (const Diagnostic& problem : error.diagnostics()) diagnostics.add(problem);
    }
  }
  const TrainingGoal* const training = goal ? std::get_if<TrainingGoal>(&*goal) : nullptr;
  PlanOptions plan{.leaders = {.path = path, .options = options}};
  if (training != nullptr) plan.leaders.options.train_tokens = training->tokens;
  check_candidates(plan, fields.candidates, training, diagnostics);
}

}  // namespace headway
