#include "reports/answers/plan_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

using nlohmann::json;

std::string count_text(const SearchCounts& counts, std::size_t simulated) {
  return fmt::format(
      "{} strategies considered; {} cannot be among the best, as their lower bound shows; of the "
      "others\n{} do not fit in memory and {} were ranked by the closed form; {} simulated\n",
      grouped_digits(counts.considered), grouped_digits(counts.pruned_by_bound),
      grouped_digits(counts.pruned_by_memory), grouped_digits(counts.ranked), simulated);
}

std::string gib(Bytes bytes) { return fmt::format("{:.1f}", bytes.count() / (1 << 30)); }

std::string word(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const json& strategy_of(const Leader& leader) {
  return leader.result->at("scenario").at("strategy");
}

std::vector<TextTable::Column> columns() {
  constexpr auto kRight = TextTable::Align::right;
  return {{"", kRight},    {"tp", kRight},   {"cp", kRight}, {"pp", kRight},
          {"dp", kRight},  {"ep", kRight},   {"schedule"},   {"v", kRight},
          {"mb", kRight},  {"zero", kRight}, {"recompute"},  {"iteration", kRight},
          {"MFU", kRight}, {"GiB", kRight},  {"front"},      {"lost by"}};
}

void add_row(TextTable& table, const Leader& leader, std::size_t place) {
  const json& fields = strategy_of(leader);
  std::vector<std::string> cells = {std::to_string(place)};
  for (const char* field : {"tensor_parallel", "context_parallel", "pipeline_parallel",
                            "data_parallel", "expert_parallel", "schedule", "virtual_stages",
                            "micro_batch", "zero_stage", "recompute"}) {
    cells.push_back(word(fields.at(field)));
  }
  cells.push_back(TimeScale(leader.time()).with_unit(leader.time()));
  cells.push_back(fmt::format("{:.1f} %", 100.0 * leader.result->at("mfu").get<double>()));
  cells.push_back(gib(leader.ranked.memory));
  cells.emplace_back(leader.is_on_front ? "*" : "");
  cells.push_back(leader.lost.empty() ? "-" : leader.lost);
  table.add_row(std::move(cells));
}

std::string infeasible_text(const StrategyPlan& plan) {
  std::string text =
      fmt::format("No strategy fits: the closest needs {} GiB of {} GiB on the fullest rank.\n",
                  gib(plan.search.smallest_memory), gib(plan.capacity));
  if (plan.accelerators_that_fit) {
    text += fmt::format("On {} GPUs one does.\n", grouped_digits(*plan.accelerators_that_fit));
  }
  return text;
}

json leader_json(const Leader& leader) {
  const json& result = leader.result;
  return {{"strategy", strategy_of(leader)},
          {"iteration_time_s", result.at("iteration_time_s")},
          {"iteration_time_interval_s", result.at("iteration_time_interval_s")},
          {"closed_form_s", leader.ranked.time.count()},
          {"tokens_per_s", result.at("tokens_per_s")},
          {"mfu", result.at("mfu")},
          {"breakdown_s", result.at("breakdown_s")},
          {"memory_bytes", result.at("memory_bytes").at("largest")},
          {"on_front", leader.is_on_front},
          {"lost_by", leader.lost.empty() ? json(nullptr) : json(leader.lost)},
          {"command_line", result.at("provenance").at("command_line")}};
}

}  // namespace

std::string strategy_plan_text(const StrategyPlan& plan) {
  std::string text =
      fmt::format("{} on {}, {} GPUs, global batch {}\n", plan.model, plan.cluster,
                  grouped_digits(plan.accelerators), grouped_digits(plan.global_batch));
  text += count_text(plan.search.counts, plan.leaders.size()) + "\n";
  if (plan.leaders.empty()) return text + infeasible_text(plan);
  TextTable table(columns());
  for (std::size_t i = 0; i < plan.leaders.size(); ++i) add_row(table, plan.leaders[i], i + 1);
  text += table.text(2);
  text += fmt::format(
      "\n* nobody simulated is faster and holds less than it; {} GiB is what a GPU has\n{}\n"
      "The answer: {}\n",
      gib(plan.capacity), plan.leaders.front().closing, plan.command_line);
  return text;
}

json strategy_plan_json(const StrategyPlan& plan) {
  json leaders = json::array();
  for (const Leader& leader : plan.leaders) leaders.push_back(leader_json(leader));
  const SearchCounts& counts = plan.search.counts;
  json document = {{"schema", "headway/plan/1"},
                   {"gpus", plan.accelerators},
                   {"counts",
                    {{"considered", counts.considered},
                     {"pruned_by_bound", counts.pruned_by_bound},
                     {"pruned_by_memory", counts.pruned_by_memory},
                     {"ranked", counts.ranked},
                     {"simulated", plan.leaders.size()}}},
                   {"memory_capacity_bytes", plan.capacity.count()},
                   {"leaders", std::move(leaders)}};
  document["best"] = plan.leaders.empty() ? json(nullptr) : *plan.leaders.front().result;
  if (plan.leaders.empty()) {
    document["closest"] = {{"strategy", *plan.closest},
                           {"memory_bytes", plan.search.smallest_memory.count()}};
    document["gpus_that_fit"] =
        plan.accelerators_that_fit ? json(*plan.accelerators_that_fit) : json(nullptr);
  }
  return document;
}

}  // namespace headway
