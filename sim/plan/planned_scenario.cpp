#include "sim/plan/planned_scenario.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/files/input_files.h"
#include "sim/files/json_text.h"
#include "sim/plan/strategy_space.h"
#include "sim/scenario/candidates.h"

namespace headway {
namespace {

using nlohmann::json;

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
std::optional<Override> without_replaced(const json& scenario, PlannedCluster cluster,
                                         const std::set<std::string>& kept) {
  if (!scenario.contains("strategy") || !scenario.at("strategy").is_object()) return std::nullopt;
  json strategy = scenario.at("strategy");
  strategy.erase("data_parallel");
  if (cluster == PlannedCluster::of_any_size) {
    for (const std::string_view field : searched_fields()) {
      if (!kept.contains(std::string(field))) strategy.erase(std::string(field));
    }
  }
  return Override{"/strategy", compact_json(strategy)};
}

Override on_one_node(json cluster) {
  const bool has_details = cluster.is_object() && cluster.contains("topology");
  if (has_details && !cluster.contains("job_nodes")) return {"/cluster/nodes", "1"};
  if (!has_details) cluster = {{"topology", cluster}};
  cluster.erase("job_nodes");
  cluster["nodes"] = 1;
  return {"/cluster", compact_json(cluster)};
}

bool can_be_read(const LeaderOptions& leaders) {
  try {
    Diagnostics ignored;
    static_cast<void>(read_scenario(leaders.path, leaders.options, ignored));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

Scenario read_planned(PlanOptions& options, PlannedCluster cluster, Diagnostics& diagnostics) {
  LeaderOptions& leaders = options.leaders;
  Diagnostics as_written;
  std::exception_ptr wrong;
  try {
    Scenario scenario = read_scenario(leaders.path, leaders.options, as_written);
    diagnostics.append(as_written);
    return scenario;
  } catch (const InputError&) {
    wrong = std::current_exception();
  }
  const std::optional<json> scenario = written(leaders);
  if (!scenario || !scenario->contains("cluster")) std::rethrow_exception(wrong);
  const auto strategy = without_replaced(*scenario, cluster, options.kept);
  if (!strategy) std::rethrow_exception(wrong);
  LeaderOptions changed = leaders;
  set_override(changed.options.overrides, *strategy);
  if (cluster == PlannedCluster::of_any_size) {
    set_override(changed.options.overrides, on_one_node(scenario->at("cluster")));
  } else if (!can_be_read(changed)) {
    std::rethrow_exception(wrong);  // as it was written, not as it was changed
  }
  Scenario read = read_scenario(leaders.path, changed.options, diagnostics);
  leaders = std::move(changed);
  return read;
}

}  // namespace headway
