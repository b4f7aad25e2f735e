#include "sim/plan/cluster_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/strategy_plan.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/decision/objective.h"
#include "sim/result/json/result_json.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

using nlohmann::json;

/// Of the memory; less than that more does not make a strategy worth a line of its own.
constexpr double kWorthwhileSlack = 0.1;

/// The unit that a deadline is best told in: the largest of which it has two or more.
struct TimeUnit {
  std::string_view name;
  std::string_view suffix;  ///< in a goal
  double seconds;
};
TimeUnit unit_of(Seconds deadline) {
  constexpr TimeUnit kDays{"days", "d", 86400.0};
  constexpr TimeUnit kHours{"hours", "h", 3600.0};
  constexpr TimeUnit kMinutes{"minutes", "min", 60.0};
  for (const TimeUnit& unit : {kDays, kHours, kMinutes}) {
    if (deadline.count() >= 2.0 * unit.seconds) return unit;
  }
  return {"seconds", "s", 1.0};
}

/// As a goal has it: "2T", "14.3B", to a tenth.
std::string tokens_text(double tokens, double (*round)(double)) {
  constexpr std::array<std::pair<double, char>, 3> kUnits{{{1e12, 'T'}, {1e9, 'B'}, {1e6, 'M'}}};
  for (const auto& [unit, suffix] : kUnits) {
    if (tokens >= unit) return fmt::format("{:g}{}", round(tokens / unit * 10.0) / 10.0, suffix);
  }
  return fmt::format("{:.0f}", round(tokens));
}

std::string gpus(std::int64_t count) { return grouped_digits(count) + " GPUs"; }

/// With a decimal where that is not a whole number.
std::string share(double of_one) { return fmt::format("{:.4g} %", 100.0 * of_one); }

Bytes memory_of(const ClusterRun& run) { return run.leader.memory(); }

std::string command_line_of(const ClusterRun& run) {
  return run.leader.prediction.question.provenance->at("command_line").get<std::string>();
}

class ClusterPlanDocument {
 public:
  explicit ClusterPlanDocument(const ClusterPlan& plan)
      : plan_(plan), unit_(unit_of(plan.goal.deadline)) {}

  [[nodiscard]] Document document() const {
    const TrainingGoal& goal = plan_.goal;
    Document document{
        .title = fmt::format("{} on {}: {} tokens within {} {} with a probability of {}, {}",
                             plan_.model, plan_.cluster, tokens_text(goal.tokens, std::round),
                             time(goal.deadline), unit_.name, share(goal.probability),
                             plan_.counts_failures ? "failures counted" : "without failures"),
        .lead = counts()};
    if (plan_.found() != nullptr) document.sections.push_back(answer_on_pages());
    const TextTable table = runs_table();
    if (table.row_count() > 0) document.sections.push_back(sizes_section(table));
    if (plan_.found() != nullptr) {
      document.sections.push_back(
          {"", {Paragraph{notes()}, Paragraph{answer_on_terminals()}}, Shown::on_terminals});
    } else {
      document.sections.push_back({"Answer", {Paragraph{nearest()}}});
    }
    return document;
  }

 private:
  /// In the unit of the deadline.
  [[nodiscard]] std::string time(Seconds time) const {
    if (!std::isfinite(time.count())) return "never";
    return fmt::format("{:.1f}", time.count() / unit_.seconds);
  }

  [[nodiscard]] std::string counts() const {
    std::map<std::string, int> reasons;
    int simulated = 0;
    for (const ClusterSize& size : plan_.sizes) {
      if (!size.can_run()) ++reasons[size.reason];
      if (!size.runs.empty()) ++simulated;
    }
    std::string text = fmt::format(
        "{} sizes judged by the closed form, from {} to {}; {} simulated", plan_.sizes.size(),
        gpus(plan_.sizes.front().accelerators), gpus(plan_.sizes.back().accelerators), simulated);
    for (const auto& [reason, count] : reasons) {
      text += fmt::format("\non {} of them nothing can run: {}", count, reason);
    }
    if (!reasons.empty() && plan_.goal.batch_within == 0.0) {
      text += "\nbatch_within=5% in the goal lets the global batch follow the size";
    }
    return text;
  }

  [[nodiscard]] TextTable runs_table() const {
    TextTable table({{"GPUs", kRight},
                     {"strategy"},
                     {"iteration", kRight},
                     {"MFU", kRight},
                     {std::string(unit_.name), kRight},
                     {"in time", kRight},
                     {"US$", kRight},
                     {"GiB free", kRight},
                     {"front"}});
    for (const ClusterSize& size : plan_.sizes) {
      for (const ClusterRun& run : size.runs) {
        if (&run != &size.runs.front() && !is_worth_a_line(size, run)) continue;
        table.add_row(cells(size, run));
      }
    }
    return table;
  }

  /// Beside the fastest of its size: it leaves most memory, and clearly more.
  [[nodiscard]] bool is_worth_a_line(const ClusterSize& size, const ClusterRun& run) const {
    const Bytes gained = memory_of(size.runs.front()) - memory_of(run);
    return run.is_on_front && gained >= kWorthwhileSlack * plan_.capacity &&
           &run == &*std::ranges::min_element(size.runs, {}, memory_of);
  }

  /// With what a strategy for less memory sets otherwise than the fastest of its size.
  [[nodiscard]] static std::string strategy_text(const ClusterSize& size, const ClusterRun& run) {
    const StrategyChoice& choice = run.leader.ranked.choice;
    const StrategyChoice& fastest = size.runs.front().leader.ranked.choice;
    std::string text = run.leader.prediction.question.strategy;
    if (choice.micro_batch != fastest.micro_batch) {
      text += fmt::format(", mb {}", choice.micro_batch);
    }
    if (choice.sharding != fastest.sharding) {
      text += fmt::format(", zero {}", static_cast<int>(choice.sharding));
    }
    if (choice.recompute != fastest.recompute) {
      text += fmt::format(", recompute {}", word_of(choice.recompute));
    }
    return text;
  }

  [[nodiscard]] std::vector<std::string> cells(const ClusterSize& size,
                                               const ClusterRun& run) const {
    return {grouped_digits(size.accelerators),
            strategy_text(size, run),
            TimeScale(run.leader.time()).with_unit(run.leader.time()),
            percent(run.leader.prediction.mfu) + " %",
            time(run.needed),
            percent(run.probability) + " %",
            run.usd ? prefixed_count(*run.usd) : "-",
            gib(plan_.capacity - run.leader.memory()),
            run.is_on_front ? "*" : ""};
  }

  [[nodiscard]] std::string notes() const {
    return fmt::format(
        "{}: until the run is through with that probability\n"
        "* no other simulated is as good in time, GPUs, price and free memory",
        unit_.name);
  }

  /// The fastest of each size that was simulated, and the deadline.
  [[nodiscard]] DocumentSection sizes_section(const TextTable& table) const {
    Chart chart{.x_title = "GPUs", .y_title = std::string(unit_.name)};
    Chart::Series needed{
        .name = fmt::format("with a probability of {}", share(plan_.goal.probability)),
        .colour = 0};
    Chart::Series training{.name = "training alone", .colour = 2};
    Chart::Series deadline{.name = "deadline", .style = Chart::Style::dashed, .colour = 1};
    for (const ClusterSize& size : plan_.sizes) {
      if (size.runs.empty()) continue;
      const ClusterRun& run = size.runs.front();
      chart.x.push_back(static_cast<double>(size.accelerators));
      needed.values.push_back(run.needed.count() / unit_.seconds);
      training.values.push_back(run.training.count() / unit_.seconds);
      deadline.values.push_back(plan_.goal.deadline.count() / unit_.seconds);
    }
    if (chart.x.size() < 2) return {"Sizes", {table}};
    chart.series = {std::move(needed), std::move(training), std::move(deadline)};
    return {"Sizes",
            {Figure{.title = "How long the run takes against the number of GPUs",
                    .caption = fmt::format(
                        "The fastest of each size that was simulated. In the table: {}, until the "
                        "run is through with that probability; on the front (*), no other "
                        "simulated is as good in time, GPUs, price and free memory.",
                        unit_.name),
                    .picture = std::move(chart),
                    .table = table}}};
  }

  /// The size, what it takes and what binds.
  [[nodiscard]] std::string answer() const {
    const ClusterSize& answer = *plan_.found();
    const ClusterRun& run = answer.runs.front();
    const bool is_cheapest = plan_.goal.minimize == TrainingGoal::Minimize::usd;
    std::string text = fmt::format("{} are the {} in time: {} {} with {}, {} % in {} {}.\n",
                                   gpus(answer.accelerators), is_cheapest ? "cheapest" : "fewest",
                                   time(run.needed), unit_.name, share(plan_.goal.probability),
                                   percent(run.probability), time(plan_.goal.deadline), unit_.name);
    text += fmt::format(
        "  {} {} train{}, {} are the margin for {}\n", time(run.training), unit_.name,
        plan_.counts_failures
            ? fmt::format(", {} go to failures and checkpoints", time(run.median - run.training))
            : "",
        time(run.needed - run.median), share(plan_.goal.probability));
    if (run.usd) {
      const DecisionNumbers numbers = decision_numbers(run.leader.prediction);
      text += fmt::format("  {}, {} from the 5th to the 95th percentile\n",
                          objective_text(Objective::run_cost, numbers),
                          objective_interval_text(Objective::run_cost, numbers));
    }
    return text + "What binds: " + binding();
  }

  [[nodiscard]] std::string answer_on_terminals() const {
    const ClusterRun& run = plan_.found()->runs.front();
    return answer() + "\n" + closing_sentence(run.leader.prediction) +
           "\nThe answer: " + command_line_of(run);
  }

  [[nodiscard]] DocumentSection answer_on_pages() const {
    const ClusterRun& run = plan_.found()->runs.front();
    DocumentSection section = plan_answer_section(run.leader.prediction, command_line_of(run));
    section.blocks.insert(section.blocks.begin(), Paragraph{answer()});
    return section;
  }

  [[nodiscard]] std::string binding() const {
    const ClusterSize* const smaller = plan_.closest_smaller();
    if (smaller != nullptr && !smaller->meets(plan_.goal.deadline) && !smaller->runs.empty()) {
      return fmt::format("the deadline; the best with fewer, {}, takes {} {}.",
                         gpus(smaller->accelerators), time(smaller->runs.front().needed),
                         unit_.name);
    }
    if (smaller != nullptr) return "the price; smaller ones in time cost more.";
    const std::size_t index = *plan_.answer;
    if (index == 0) return "the deadline; with fewer GPUs not even their peak would do.";
    return fmt::format("on fewer GPUs nothing can run ({}).", plan_.sizes[index - 1].reason);
  }

  [[nodiscard]] std::string nearest() const {
    if (!plan_.nearest) {
      return "Nothing on these sizes is in time, nor in a thousand times the deadline.";
    }
    const NearestChange& nearest = *plan_.nearest;
    const TimeUnit unit = unit_of(nearest.deadline);
    std::string text = fmt::format(
        "None of these sizes is in time. What would do, on {}:\n"
        "  deadline={:g}{}, or about tokens={}",
        gpus(nearest.accelerators),
        std::ceil(nearest.deadline.count() / unit.seconds * 10.0) / 10.0, unit.suffix,
        tokens_text(nearest.tokens, std::floor));
    const double chance = std::floor(nearest.probability * 100.0);
    if (chance > 0.0) text += fmt::format(", or probability={:.0f}%", chance);
    return text;
  }

  const ClusterPlan& plan_;
  TimeUnit unit_;
};

json run_json(const ClusterRun& run) {
  const json result = result_json(run.leader.prediction);
  return {{"time_s", json_number(run.needed.count())},
          {"median_time_s", json_number(run.median.count())},
          {"training_time_s", run.training.count()},
          {"probability", run.probability},
          {"cost_usd", run.usd ? json(*run.usd) : json(nullptr)},
          {"iteration_time_s", result.at("iteration_time_s")},
          {"mfu", result.at("mfu")},
          {"memory_bytes", run.leader.memory().count()},
          {"on_front", run.is_on_front},
          {"strategy", result.at("scenario").at("strategy")},
          {"command_line", result.at("provenance").at("command_line")}};
}

json size_json(const ClusterSize& size, Seconds deadline) {
  json document = {{"gpus", size.accelerators}, {"global_batch", size.global_batch}};
  if (!size.can_run()) {
    document["reason"] = size.reason;
    return document;
  }
  document["closed_form_s"] = size.closed_form.count();
  json runs = json::array();
  for (const ClusterRun& run : size.runs) runs.push_back(run_json(run));
  document["runs"] = std::move(runs);
  document["meets"] = size.runs.empty() ? json(nullptr) : json(size.meets(deadline));
  return document;
}

json goal_json(const TrainingGoal& goal) {
  const bool is_cheapest = goal.minimize == TrainingGoal::Minimize::usd;
  return {{"tokens", goal.tokens},
          {"deadline_s", goal.deadline.count()},
          {"probability", goal.probability},
          {"batch_within", goal.batch_within},
          {"minimize", is_cheapest ? "usd" : "gpus"}};
}

json cluster_plan_json(const ClusterPlan& plan) {
  json sizes = json::array();
  for (const ClusterSize& size : plan.sizes) sizes.push_back(size_json(size, plan.goal.deadline));
  const ClusterSize* const answer = plan.found();
  json document = {{"schema", "headway/cluster-plan/1"},
                   {"goal", goal_json(plan.goal)},
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
                           {"probability", plan.nearest->probability}};
  }
  return document;
}

/// A row a run that was simulated.
std::string cluster_plan_csv(const ClusterPlan& plan) {
  json records = json::array();
  for (const ClusterSize& size : plan.sizes) {
    for (const ClusterRun& run : size.runs) {
      json record = run_json(run);
      record["gpus"] = size.accelerators;
      record["global_batch"] = size.global_batch;
      records.push_back(std::move(record));
    }
  }
  return csv_of(
      records, {"gpus", "global_batch", "time_s", "median_time_s", "training_time_s", "probability",
                "cost_usd", "iteration_time_s", "mfu", "memory_bytes", "on_front", "command_line"});
}

}  // namespace

Answer cluster_plan_answer(const ClusterPlan& plan) {
  const auto document = [&] { return ClusterPlanDocument(plan).document(); };
  return {.text = [=](bool) { return brief_text_of(document()); },
          .document = document,
          .json = [&] { return json_document_text(cluster_plan_json(plan)); },
          .csv = [&] { return cluster_plan_csv(plan); }};
}

}  // namespace headway
