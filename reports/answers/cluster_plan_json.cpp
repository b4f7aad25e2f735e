#include "reports/answers/cluster_plan_json.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_output.h"
#include "sim/result/json/result_json.h"

namespace headway {
namespace {

using nlohmann::json;

template <class T>
json number_or_null(const std::optional<T>& value) {
  if constexpr (std::is_same_v<T, double>) {
    return value ? json_number(*value) : json(nullptr);
  } else {
    return value ? json_number(value->count()) : json(nullptr);
  }
}

json interval_or_null(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return json::array({json_number(interval->low), json_number(interval->high)});
}

json run_json(const ClusterRun& run) {
  const json result = result_json(run.leader.prediction);
  return {{"time_s", json_number(run.needed.count())},
          {"median_time_s", json_number(run.median.count())},
          {"training_time_s", run.training.count()},
          {"probability", run.probability},
          {"cost_usd", number_or_null(run.usd)},
          {"cost_interval_usd", interval_or_null(run.usd_interval)},
          {"outlay_usd", number_or_null(run.outlay)},
          {"outlay_interval_usd", interval_or_null(run.outlay_interval)},
          {"energy_J", number_or_null(run.energy)},
          {"iteration_time_s", result.at("iteration_time_s")},
          {"mfu", result.at("mfu")},
          {"memory_bytes", run.leader.memory().count()},
          {"on_front", run.is_on_front},
          {"strategy", result.at("scenario").at("strategy")},
          {"command_line", result.at("provenance").at("command_line")}};
}

}  // namespace

json shortfall_json(const Shortfall& missing) {
  return {{"time_s", json_number(missing.time.count())},
          {"usd", missing.usd},
          {"power_W", missing.power.count()}};
}

json bill_json(const BillOfMaterials& bill) {
  json cables = json::array();
  for (const BillOfMaterials::Cables& of_a_kind : bill.cables) {
    cables.push_back({{"lower_tier", of_a_kind.lower_tier},
                      {"upper_tier", of_a_kind.upper_tier},
                      {"kind", std::string(cable_name(of_a_kind.kind))},
                      {"length_m", of_a_kind.metres},
                      {"bandwidth_bytes_per_s", of_a_kind.bandwidth.count()},
                      {"count", of_a_kind.count}});
  }
  return {{"nodes", bill.nodes},         {"gpus", bill.accelerators},
          {"nics", bill.nics},           {"switches_by_tier", bill.switches},
          {"cables", std::move(cables)}, {"transceivers", bill.transceivers()}};
}

json size_json(const ClusterSize& size, const TrainingGoal& goal) {
  json document = {{"gpus", size.accelerators}, {"global_batch", size.global_batch}};
  if (!size.can_run()) {
    document["reason"] = size.reason;
    return document;
  }
  document["closed_form_s"] = size.closed_form.count();
  if (size.power) document["power_W"] = size.power->count();
  if (size.bought) document["purchase_usd"] = *size.bought;
  json runs = json::array();
  for (const ClusterRun& run : size.runs) runs.push_back(run_json(run));
  document["runs"] = std::move(runs);
  document["meets"] = nullptr;
  if (size.runs.empty()) return document;
  const Shortfall missing = shortfall(size, goal);
  document["meets"] = missing.is_none();
  document["misses_by"] = shortfall_json(missing);
  document["bill_of_materials"] = bill_json(size.bill);
  return document;
}

json goal_json(const TrainingGoal& goal) {
  return {{"tokens", goal.tokens},
          {"deadline_s", json_number(goal.deadline.count())},
          {"probability", goal.probability},
          {"batch_within", goal.batch_within},
          {"budget_usd", number_or_null(goal.budget)},
          {"power_W", number_or_null(goal.power)},
          {"minimize", std::string(word_of(goal.minimize))}};
}

json cluster_plan_json(const ClusterPlan& plan) {
  json sizes = json::array();
  for (const ClusterSize& size : plan.sizes) sizes.push_back(size_json(size, plan.goal));
  const ClusterSize* const answer = plan.found();
  json document = {{"schema", "headway/cluster-plan/1"},
                   {"goal", goal_json(plan.goal)},
                   {"delivered_nodes", plan.delivered},
                   {"memory_capacity_bytes", plan.capacity.count()},
                   {"sizes", std::move(sizes)},
                   {"gpus", answer != nullptr ? json(answer->accelerators) : json(nullptr)},
                   {"best", answer != nullptr ? result_json(answer->runs.front().leader.prediction)
                                              : json(nullptr)}};
  document["nearest"] = nullptr;
  if (plan.nearest) {
    document["nearest"] = {{"gpus", plan.nearest->accelerators},
                           {"deadline_s", plan.nearest->deadline.count()},
                           {"tokens", plan.nearest->tokens},
                           {"probability", plan.nearest->probability},
                           {"budget_usd", number_or_null(plan.nearest->budget)},
                           {"power_W", number_or_null(plan.nearest->power)}};
  }
  return document;
}

json run_records(const ClusterPlan& plan) {
  json records = json::array();
  for (const ClusterSize& size : plan.sizes) {
    for (const ClusterRun& run : size.runs) {
      json record = run_json(run);
      record["gpus"] = size.accelerators;
      record["global_batch"] = size.global_batch;
      record["power_W"] = number_or_null(size.power);
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace headway
