#include "sim/plan/planned_scenario.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <vector>

#include "sim/files/input_files.h"
#include "sim/files/json_text.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/plan/strategy_space.h"
#include "sim/scenario/candidates.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr int kMostStagesTried = 64;

/// The scenario as it was written, overrides applied; nothing if it cannot be read.
std::optional<json> written(const LeaderOptions& leaders) {
  Diagnostics ignored;
  const ScenarioOptions& options = leaders.options;
  InputFiles files(with_candidate(leaders.path, options.overrides, options.memory, ignored),
                   data_folders(), ignored, options.memory);
  const auto root = files.open(leaders.path, "scenarios");
  if (ignored.has_errors() || !root || !root->is_object()) return std::nullopt;
  return root->value();
}

/// The strategy without what a plan of that kind replaces before it begins: where the number of
/// nodes is given, the data-parallel degree, which follows from the others. Nothing if the strategy
/// stands in another file.
std::optional<json> without_replaced(const json& scenario, PlannedCluster cluster,
                                     const std::set<std::string>& kept) {
  if (!scenario.contains("strategy") || !scenario.at("strategy").is_object()) return std::nullopt;
  json strategy = scenario.at("strategy");
  // Anything else than a degree stays, and is told as wrong.
  const json replicas = strategy.value("data_parallel", json());
  if (replicas.is_number_integer() && replicas > 0) strategy.erase("data_parallel");
  if (cluster == PlannedCluster::of_any_size) {
    for (const std::string_view field : searched_fields()) {
      if (!kept.contains(std::string(field))) strategy.erase(std::string(field));
    }
  }
  return strategy;
}

Override on_one_node(json cluster) {
  const bool has_details = cluster.is_object() && cluster.contains("topology");
  if (has_details && !cluster.contains("job_nodes")) return {"/cluster/nodes", "1"};
  if (!has_details) cluster = {{"topology", cluster}};
  cluster.erase("job_nodes");
  cluster["nodes"] = 1;
  return {"/cluster", compact_json(cluster)};
}

/// Errors that reading ends with; none if it goes well.
std::vector<Diagnostic> problems_of(const LeaderOptions& leaders) {
  try {
    Diagnostics ignored;
    static_cast<void>(read_scenario(leaders.path, leaders.options, ignored));
    return {};
  } catch (const InputError& error) {
    return error.diagnostics();
  }
}

/// Whether all there is to say is that so many replicas cannot share the batch evenly.
bool only_batch_is_wrong(const std::vector<Diagnostic>& problems) {
  return std::ranges::all_of(problems, [](const Diagnostic& problem) {
    return problem.severity != Severity::error || problem.pointer == "/strategy/global_batch";
  });
}

/// No other strategy makes it known.
bool have_unknown_field(const std::vector<Diagnostic>& problems) {
  return std::ranges::any_of(
      problems, [](const Diagnostic& problem) { return !problem.unknown_field.empty(); });
}

/// What can be read, as a search needs it to begin with: as it is, or, where the batch does not
/// divide by the replicas that degrees left out make, with the first of those degrees by which it
/// does.
std::optional<LeaderOptions> readable(const LeaderOptions& leaders, const json& strategy,
                                      const std::set<std::string>& kept) {
  const std::vector<Diagnostic> problems = problems_of(leaders);
  if (problems.empty()) return leaders;
  if (!only_batch_is_wrong(problems)) return std::nullopt;
  const auto values = [&](const std::string& degree, std::vector<int> tried) {
    return strategy.contains(degree) || kept.contains(degree) ? std::vector{0} : std::move(tried);
  };
  std::vector<int> stages(kMostStagesTried);
  std::iota(stages.begin(), stages.end(), 1);
  const std::vector<int> pipelines = values("pipeline_parallel", std::move(stages));
  for (const int tensor : values("tensor_parallel", {1, 2, 4, 8})) {
    for (const int pipeline : pipelines) {
      LeaderOptions tried = leaders;
      json degrees = strategy;
      if (tensor > 0) degrees["tensor_parallel"] = tensor;
      if (pipeline > 0) degrees["pipeline_parallel"] = pipeline;
      set_override(tried.options.overrides, {"/strategy", compact_json(degrees)});
      if (problems_of(tried).empty()) return tried;
    }
  }
  return std::nullopt;
}

/// Whether a plan says what a field is: it is searched, or goes with tensor parallelism.
bool is_planned(std::string_view field) {
  return std::ranges::find(searched_fields(), field) != searched_fields().end() ||
         field == "sequence_parallel";
}

/// Fields that are searched and that a rule holds against others that a plan finds; none if
/// anything else is wrong, too. Of rules about one field, the same where others decide:
/// `with_lone_fields`.
std::set<std::string> searched_in_conflict(const std::vector<Diagnostic>& problems,
                                           const std::set<std::string>& kept,
                                           bool with_lone_fields) {
  std::set<std::string> found;
  for (const Diagnostic& problem : problems) {
    const bool is_of_batch = problem.pointer == "/strategy/global_batch";
    if (problem.severity != Severity::error || is_of_batch) continue;
    const auto rule = std::ranges::find_if(strategy_rules(), [&](const StrategyRule& candidate) {
      const std::string_view title = candidate.title.empty() ? candidate.words : candidate.title;
      const bool is_lone = candidate.fields.size() == 1;
      const bool is_meant = !is_lone || (with_lone_fields && !candidate.besides.empty());
      return is_meant && problem.message == title &&
             std::ranges::all_of(candidate.fields, is_planned);
    });
    std::set<std::string> searched;
    for (const std::string_view field : searched_fields()) {
      const bool is_named = rule != strategy_rules().end() &&
                            std::ranges::find(rule->fields, field) != rule->fields.end();
      if (is_named && !kept.contains(std::string(field))) searched.emplace(field);
    }
    if (searched.empty()) return {};
    found.merge(searched);
  }
  return found;
}

/// The same without such fields, where that can be read. What is left out may leave others without
/// what they need: virtual stages without their pipeline.
std::optional<LeaderOptions> without_conflicts(LeaderOptions leaders, json strategy,
                                               const std::set<std::string>& kept) {
  bool is_first = true;
  for (std::size_t before = strategy.size() + 1; strategy.size() < before; is_first = false) {
    before = strategy.size();
    for (const std::string& field : searched_in_conflict(problems_of(leaders), kept, !is_first)) {
      strategy.erase(field);
    }
    set_override(leaders.options.overrides, {"/strategy", compact_json(strategy)});
    if (auto begun = readable(leaders, strategy, kept)) return begun;
  }
  return std::nullopt;
}

/// Problems of what was changed, each where it stands as written if it does.
std::vector<Diagnostic> placed_as_written(std::vector<Diagnostic> problems,
                                          const std::vector<Diagnostic>& written) {
  for (Diagnostic& problem : problems) {
    const auto same = std::ranges::find_if(written, [&](const Diagnostic& other) {
      return other.pointer == problem.pointer && other.message == problem.message;
    });
    if (same != written.end()) problem = *same;
  }
  return problems;
}

}  // namespace

Scenario read_planned(PlanOptions& options, PlannedCluster cluster, Diagnostics& diagnostics) {
  LeaderOptions& leaders = options.leaders;
  Diagnostics as_written;
  std::optional<InputError> wrong;
  try {
    Scenario scenario = read_scenario(leaders.path, leaders.options, as_written);
    diagnostics.append(as_written);
    return scenario;
  } catch (const InputError& error) {
    wrong = error;
  }
  if (cluster == PlannedCluster::as_given && have_unknown_field(wrong->diagnostics())) {
    throw InputError(*wrong);
  }
  const std::optional<json> scenario = written(leaders);
  if (!scenario || !scenario->contains("cluster")) throw InputError(*wrong);
  const std::optional<json> strategy = without_replaced(*scenario, cluster, options.kept);
  if (!strategy) throw InputError(*wrong);
  LeaderOptions changed = leaders;
  set_override(changed.options.overrides, {"/strategy", compact_json(*strategy)});
  if (cluster == PlannedCluster::of_any_size) {
    set_override(changed.options.overrides, on_one_node(scenario->at("cluster")));
  } else {
    std::optional<LeaderOptions> begun = readable(changed, *strategy, options.kept);
    if (!begun) begun = without_conflicts(changed, *strategy, options.kept);
    if (!begun) throw InputError(*wrong);  // as it was written, not as it was changed
    changed = std::move(*begun);
  }
  try {
    Scenario read = read_scenario(leaders.path, changed.options, diagnostics);
    leaders = std::move(changed);
    return read;
  } catch (const InputError& error) {
    throw InputError(placed_as_written(error.diagnostics(), wrong->diagnostics()));
  }
}

}  // namespace headway
