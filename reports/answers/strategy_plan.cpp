#include "reports/answers/strategy_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "reports/sections/prediction_sections.h"
#include "sim/base/join_words.h"
#include "sim/base/quantile.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/decision/choice.h"
#include "sim/result/json/result_json.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

using nlohmann::json;

std::string count_text(const SearchCounts& counts, std::size_t simulated) {
  return fmt::format(
      "{} strategies considered; {} cannot be among the best, as their lower bound shows; of the "
      "others\n{} {} not fit in memory and {} {} ranked by the closed form; {} simulated",
      grouped_digits(counts.considered), grouped_digits(counts.pruned_by_bound),
      grouped_digits(counts.pruned_by_memory), agreeing(counts.pruned_by_memory, "does", "do"),
      grouped_digits(counts.ranked), agreeing(counts.ranked, "was", "were"), simulated);
}

std::vector<TextTable::Column> columns(const std::vector<Objective>& objectives) {
  std::vector<TextTable::Column> columns = {
      {"", kRight},   {"tp", kRight},        {"cp", kRight}, {"pp", kRight}, {"dp", kRight},
      {"ep", kRight}, {"schedule"},          {"v", kRight},  {"mb", kRight}, {"zero", kRight},
      {"recompute"},  {"iteration", kRight}, {"MFU", kRight}};
  for (const Objective objective : objectives) {
    columns.push_back({std::string(objective_title(objective)), kRight});
  }
  columns.insert(columns.end(), {{"GiB", kRight}, {"front"}, {"lost by"}});
  return columns;
}

/// A leader, and those behind it that are hardly another answer.
struct LeaderRow {
  std::size_t leader;
  std::vector<int> virtual_stages;  ///< of the leader, then of those
};

/// Whether one leader is another with other virtual stages, which change next to nothing.
bool is_hardly_another(const Leader& leader, const Leader& before) {
  constexpr double kSameTime = 0.01;
  constexpr double kSameMemory = 0.05;
  StrategyChoice choice = leader.ranked.choice;
  choice.virtual_stages = before.ranked.choice.virtual_stages;
  return choice == before.ranked.choice && !leader.is_on_front &&
         leader.time() <= (1.0 + kSameTime) * before.time() &&
         std::abs(leader.memory() / before.memory() - 1.0) <= kSameMemory;
}

std::vector<LeaderRow> leader_rows(const StrategyPlan& plan) {
  std::vector<LeaderRow> rows;
  for (std::size_t i = 0; i < plan.leaders.size(); ++i) {
    const int stages = plan.leaders[i].ranked.choice.virtual_stages;
    const auto before = std::ranges::find_if(rows, [&](const LeaderRow& row) {
      return is_hardly_another(plan.leaders[i], plan.leaders[row.leader]);
    });
    if (before == rows.end()) {
      rows.push_back({i, {stages}});
    } else {
      before->virtual_stages.push_back(stages);
    }
  }
  return rows;
}

TextTable leader_table(const StrategyPlan& plan, const std::vector<LeaderRow>& rows) {
  std::vector<Candidate> candidates;
  for (const Leader& leader : plan.leaders) {
    candidates.push_back({{}, decision_numbers(leader.prediction)});
  }
  const std::vector<Objective> objectives = objectives_beside_throughput(candidates);
  TextTable table(columns(objectives));
  for (const LeaderRow& row : rows) {
    const std::size_t i = row.leader;
    const Leader& leader = plan.leaders[i];
    const StrategyChoice& choice = leader.ranked.choice;
    std::vector<std::string> cells = {std::to_string(table.row_count() + 1)};
    for (const int degree :
         {choice.tensor_parallel, choice.context_parallel, choice.pipeline_parallel,
          choice.data_parallel, choice.expert_parallel}) {
      cells.push_back(std::to_string(degree));
    }
    cells.emplace_back(choice.schedule->name);
    cells.push_back(join_words(row.virtual_stages, ", "));
    cells.push_back(std::to_string(choice.micro_batch));
    cells.push_back(std::to_string(static_cast<int>(choice.sharding)));
    cells.emplace_back(word_of(choice.recompute));
    cells.push_back(TimeScale(leader.time()).with_unit(leader.time()));
    cells.push_back(percent(leader.prediction.mfu) + " %");
    for (const Objective objective : objectives) {
      cells.push_back(objective_text(objective, candidates[i].numbers));
    }
    cells.push_back(gib(leader.memory()));
    cells.emplace_back(leader.is_on_front ? "*" : "");
    cells.push_back(leader.lost.empty() ? "-" : leader.lost);
    table.add_row(std::move(cells));
  }
  return table;
}

/// Where each leader's time goes, which is why it lost.
Figure leader_figure(const StrategyPlan& plan, const std::vector<LeaderRow>& rows) {
  constexpr double kSeen = 0.0005;  ///< of an iteration: less is no width
  Chart chart{.kind = Chart::Kind::stacked_bars, .x_title = "s of an iteration"};
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    Chart::Series series{.name = std::string(cause_title(cause)), .colour = static_cast<int>(i)};
    bool is_seen = false;
    for (const LeaderRow& row : rows) {
      const Leader& leader = plan.leaders[row.leader];
      const Seconds time = leader.prediction.breakdown[cause];
      series.values.push_back(time.count());
      is_seen = is_seen || time > kSeen * leader.time();
    }
    if (is_seen) chart.series.push_back(std::move(series));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const StrategyChoice& choice = plan.leaders[rows[i].leader].ranked.choice;
    chart.labels.push_back(fmt::format("{}: tp {}, pp {}, dp {}, mb {}", i + 1,
                                       choice.tensor_parallel, choice.pipeline_parallel,
                                       choice.data_parallel, choice.micro_batch));
  }
  return {.title = "Where the time of the leaders goes",
          .caption = "Fastest first, by the numbers of the table.",
          .picture = std::move(chart),
          .table = leader_table(plan, rows)};
}

std::string rows_text(const std::vector<LeaderRow>& rows) {
  const bool has_many =
      std::ranges::any_of(rows, [](const LeaderRow& row) { return row.virtual_stages.size() > 1; });
  if (!has_many) return "";
  return "\na row of several v is of the first; the others come within 1 % of its time, 5 % of its "
         "memory";
}

/// Leaders that are too slow for it to matter are told from one draw.
std::string draws_text(const StrategyPlan& plan) {
  const int most = plan.leaders.front().prediction.replicas;
  const auto once = std::ranges::count_if(
      plan.leaders, [](const Leader& leader) { return leader.prediction.replicas == 1; });
  if (most == 1 || once == 0) return "";
  return fmt::format(
      "\ndrawn once: {} of {}, which are too slow to be the first; the others {} times", once,
      plan.leaders.size(), most);
}

std::string infeasible_text(const StrategyPlan& plan) {
  if (plan.search.counts.considered == 0) {
    return "No strategy is left: what is kept, and what the framework has settings for, go "
           "together on no degrees of this cluster.";
  }
  std::string text =
      fmt::format("No strategy fits: the closest needs {} GiB of {} GiB on the fullest rank.",
                  gib(plan.search.smallest_memory), gib(plan.capacity));
  if (plan.accelerators_that_fit) {
    text += fmt::format("\nOn {} GPUs one does.", grouped_digits(*plan.accelerators_that_fit));
  }
  if (plan.placement_that_fits) {
    text += fmt::format("\nWith --set /strategy/embedding_tables/placement={} one does.",
                        word_of(*plan.placement_that_fits));
  }
  return text;
}

json leader_json(const Leader& leader) {
  const json result = result_json(leader.prediction);
  const auto known = [&](const char* name) { return result.value(name, json(nullptr)); };
  return {{"strategy", result.at("scenario").at("strategy")},
          {"iteration_time_s", result.at("iteration_time_s")},
          {"iteration_time_interval_s", result.at("iteration_time_interval_s")},
          {"draws", leader.prediction.replicas},
          {"closed_form_s", leader.ranked.time.count()},
          {"samples_per_s", result.at("samples_per_s")},
          {"tokens_per_s", result.at("tokens_per_s")},
          {"mfu", result.at("mfu")},
          {"goodput", known("goodput")},
          {"run_time_s", known("run_time_s")},
          {"run_time_interval_s", known("run_time_interval_s")},
          {"run_cost_usd", known("run_cost_usd")},
          {"run_cost_interval_usd", known("run_cost_interval_usd")},
          {"breakdown_s", result.at("breakdown_s")},
          {"memory_bytes", result.at("memory_bytes").at("largest")},
          {"on_front", leader.is_on_front},
          {"lost_by", leader.lost.empty() ? json(nullptr) : json(leader.lost)},
          {"command_line", result.at("provenance").at("command_line")}};
}

}  // namespace

std::string rate_text(const StrategyPlan& plan) {
  const SearchEffort& effort = plan.search.effort;
  const auto considered = static_cast<double>(plan.search.counts.considered);
  std::string text = fmt::format(
      "judged {} strategies in {} of one core, {} a second: bounds and their order {}, {} each",
      grouped_digits(plan.search.counts.considered), short_text(Seconds(effort.seconds)),
      grouped_digits(static_cast<long long>(considered / effort.seconds)),
      short_text(Seconds(effort.bounds)), short_text(Seconds(effort.bounds / considered)));
  if (!effort.closed_forms.empty()) {
    const double all = std::accumulate(effort.closed_forms.begin(), effort.closed_forms.end(), 0.0);
    text += fmt::format("; {} closed forms {}, {} in the median",
                        grouped_digits(std::ssize(effort.closed_forms)), short_text(Seconds(all)),
                        short_text(Seconds(median(effort.closed_forms))));
  }
  return text + "\n";
}

std::string own_line(const std::string& text) { return text.empty() ? "" : text + "\n"; }

DocumentSection plan_answer_section(const Prediction& best, std::string command_line,
                                    const std::string& unsaid) {
  DocumentSection section = answer_section(best);
  if (!unsaid.empty()) section.blocks.emplace_back(Paragraph{unsaid});
  section.blocks.emplace_back(Code{.text = std::move(command_line), .language = "sh"});
  section.shown = Shown::on_pages;
  return section;
}

Document strategy_plan_document(const StrategyPlan& plan) {
  Document document{
      .title = fmt::format("{} on {}, {}, global batch {}", plan.model, plan.cluster,
                           counted(plan.accelerators, "GPU"), grouped_digits(plan.global_batch)),
      .lead = count_text(plan.search.counts, plan.leaders.size())};
  if (plan.leaders.empty()) {
    document.sections = {{"Answer", {Paragraph{infeasible_text(plan)}}}};
    return document;
  }
  const std::vector<LeaderRow> rows = leader_rows(plan);
  const std::string note =
      fmt::format("* nobody simulated is faster and holds less than it; {} GiB is what a GPU has",
                  gib(plan.capacity)) +
      rows_text(rows) + draws_text(plan);
  const Prediction& best = plan.leaders.front().prediction;
  document.sections = {plan_answer_section(best, plan.command_line, plan.unsaid),
                       {"Leaders", {leader_figure(plan, rows), Paragraph{note}}},
                       {"",
                        {Paragraph{closing_sentence(best) + "\n" + own_line(plan.unsaid) +
                                   "The answer: " + plan.command_line}},
                        Shown::on_terminals}};
  return document;
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
  document["best"] =
      plan.leaders.empty() ? json(nullptr) : result_json(plan.leaders.front().prediction);
  if (plan.leaders.empty()) {
    document["closest"] = {{"strategy", *plan.closest},
                           {"memory_bytes", plan.search.smallest_memory.count()}};
    document["gpus_that_fit"] =
        plan.accelerators_that_fit ? json(*plan.accelerators_that_fit) : json(nullptr);
  }
  return document;
}

std::string strategy_plan_csv(const StrategyPlan& plan) {
  return csv_of(strategy_plan_json(plan).at("leaders"),
                {"strategy/tensor_parallel",
                 "strategy/context_parallel",
                 "strategy/pipeline_parallel",
                 "strategy/data_parallel",
                 "strategy/expert_parallel",
                 "strategy/schedule",
                 "strategy/virtual_stages",
                 "strategy/micro_batch",
                 "strategy/zero_stage",
                 "strategy/recompute",
                 "iteration_time_s",
                 "iteration_time_p5_s=iteration_time_interval_s/0",
                 "iteration_time_p95_s=iteration_time_interval_s/1",
                 "closed_form_s",
                 "samples_per_s",
                 "tokens_per_s",
                 "mfu",
                 "goodput",
                 "run_time_s",
                 "run_cost_usd",
                 "memory_bytes",
                 "on_front",
                 "lost_by",
                 "command_line"});
}

Answer strategy_plan_answer(const StrategyPlan& plan) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(strategy_plan_document(plan), screen.columns);
              },
          .document = [&] { return strategy_plan_document(plan); },
          .json = [&] { return json_document_text(strategy_plan_json(plan)); },
          .csv = [&] { return strategy_plan_csv(plan); }};
}

}  // namespace headway
