#include "sim/plan/cluster_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/answers/answers.h"
#include "reports/answers/cluster_plan_json.h"
#include "reports/answers/plan_words.h"
#include "reports/answers/strategy_plan.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/decision/objective.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

/// The share of the memory that is worth a line of its own: a strategy that leaves less than that
/// more is not.
constexpr double kWorthwhileSlack = 0.1;

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

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
        .title = fmt::format("{} on {}: {}, {}", plan_.model, plan_.cluster,
                             goal_text(goal, plan_.counts_tokens),
                             plan_.counts_failures ? "failures counted" : "without failures"),
        .lead = counts()};
    if (plan_.found() != nullptr) document.sections.push_back(answer_on_pages());
    const TextTable table = runs_table();
    if (table.row_count() > 0) document.sections.push_back(sizes_section(table));
    if (plan_.found() != nullptr) {
      const ClusterSize& answer = *plan_.found();
      document.sections.push_back({"What it is made of", {bill_table(answer)}, Shown::on_pages});
      document.sections.push_back(
          {"", {Paragraph{notes()}, Paragraph{answer_on_terminals()}}, Shown::on_terminals});
    } else {
      document.sections.push_back({"Answer", {Paragraph{why_none()}}});
    }
    return document;
  }

 private:
  /// In the unit of the deadline.
  [[nodiscard]] std::string time(Seconds time) const { return unit_.number(time); }

  [[nodiscard]] std::string counts() const {
    std::map<std::string, std::pair<int, std::string>> reasons;  // alike but for numbers: the first
    int simulated = 0;
    for (const ClusterSize& size : plan_.sizes) {
      if (!size.runs.empty()) ++simulated;
      if (size.can_run()) continue;
      auto& [count, reason] = reasons[without_digits(size.reason)];
      if (count++ == 0) reason = size.reason;
    }
    std::string text =
        fmt::format("{} sizes judged by the closed form, from {} to {}; {} simulated",
                    plan_.sizes.size(), gpus_text(plan_.sizes.front().accelerators),
                    gpus_text(plan_.sizes.back().accelerators), simulated);
    for (const auto& [alike, counted] : reasons) {
      const auto& [count, reason] = counted;
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
            run.usd ? prefixed_count(*run.usd) : "",
            gib(plan_.capacity - run.leader.memory()),
            run.is_on_front ? "*" : ""};
  }

  /// What counts on the front: a price where the scenario has one.
  [[nodiscard]] std::string_view qualities() const {
    const bool has_prices = std::ranges::any_of(plan_.sizes, [](const ClusterSize& size) {
      return !size.runs.empty() && size.runs.front().usd.has_value();
    });
    return has_prices ? "time, GPUs, price and free memory" : "time, GPUs and free memory";
  }

  [[nodiscard]] std::string notes() const {
    return fmt::format(
        "{}: until the run is through with that probability\n"
        "* no other simulated is as good in {}",
        unit_.name, qualities());
  }

  /// The fastest of each size that was simulated, and the deadline.
  [[nodiscard]] DocumentSection sizes_section(const TextTable& table) const {
    Chart chart{.x_title = "GPUs", .y_title = std::string(unit_.name)};
    Chart::Series needed{
        .name = fmt::format("with a probability of {}", share_text(plan_.goal.probability)),
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
                        "simulated is as good in {}.",
                        unit_.name, qualities()),
                    .picture = std::move(chart),
                    .table = table}}};
  }

  /// The size, what it takes and what binds.
  [[nodiscard]] std::string answer() const {
    const ClusterSize& answer = *plan_.found();
    const ClusterRun& run = answer.runs.front();
    std::string text = fmt::format(
        "{} are the {} {}: {} {} with {}", gpus_text(answer.accelerators),
        superlative_of(plan_.goal.minimize), is_limited() ? "that meet the goal" : "in time",
        time(run.needed), unit_.name, share_text(plan_.goal.probability));
    if (std::isfinite(plan_.goal.deadline.count())) {
      text += fmt::format(", {} % in {} {}", percent(run.probability), time(plan_.goal.deadline),
                          unit_.name);
    }
    text += ".\n";
    text += fmt::format(
        "  {} {} train{}, {} are the margin for {}\n", time(run.training), unit_.name,
        plan_.counts_failures
            ? fmt::format(", {} go to failures and checkpoints", time(run.median - run.training))
            : "",
        time(run.needed - run.median), share_text(plan_.goal.probability));
    if (run.usd) {
      const DecisionNumbers numbers = decision_numbers(run.leader.prediction);
      text += fmt::format("  {}, {} from the 5th to the 95th percentile\n",
                          objective_text(Objective::run_cost, numbers),
                          objective_interval_text(Objective::run_cost, numbers));
    }
    return text + "What binds: " + binding();
  }

  /// By more than the deadline.
  [[nodiscard]] bool is_limited() const {
    return plan_.goal.budget || plan_.goal.power ||
           plan_.goal.minimize == TrainingGoal::Minimize::days;
  }

  [[nodiscard]] std::string answer_on_terminals() const {
    const ClusterRun& run = plan_.found()->runs.front();
    return answer() + "\n" + closing_sentence(run.leader.prediction) + "\n" +
           own_line(plan_.unsaid) + "The answer: " + command_line_of(run);
  }

  [[nodiscard]] DocumentSection answer_on_pages() const {
    const ClusterRun& run = plan_.found()->runs.front();
    DocumentSection section =
        plan_answer_section(run.leader.prediction, command_line_of(run), plan_.unsaid);
    section.blocks.insert(section.blocks.begin(), Paragraph{answer()});
    return section;
  }

  [[nodiscard]] std::string binding() const {
    if (plan_.goal.minimize == TrainingGoal::Minimize::days) {
      return "what may be paid and drawn; of the sizes that keep to it this is the soonest.";
    }
    const ClusterSize* const smaller = plan_.closest_smaller();
    if (smaller != nullptr && !smaller->meets(plan_.goal.deadline) && !smaller->runs.empty()) {
      return fmt::format("the deadline; the best with fewer, {}, takes {} {}.",
                         gpus_text(smaller->accelerators), time(smaller->runs.front().needed),
                         unit_.name);
    }
    if (smaller != nullptr && plan_.goal.minimize == TrainingGoal::Minimize::energy) {
      return "the energy; smaller ones in time take more.";
    }
    if (smaller != nullptr) return "the price; smaller ones in time cost more.";
    const std::size_t index = *plan_.answer;
    if (index == 0) return "the deadline; with fewer GPUs not even their peak would do.";
    return fmt::format("on fewer GPUs nothing can run ({}).", plan_.sizes[index - 1].reason);
  }

  /// Nothing is in time, or what is takes more than it may.
  [[nodiscard]] std::string why_none() const {
    const ClusterSize* const nearest = plan_.shown();
    if (nearest == nullptr || !plan_.nearest) {
      return "Nothing on these sizes is in time, nor in a thousand times the deadline.";
    }
    const Shortfall missing = shortfall(*nearest, plan_.goal);
    if (missing.usd <= 0.0 && missing.power <= Watts(0.0)) return later_or_less();
    return fmt::format("No size meets the goal. The nearest, {}: {}.",
                       gpus_text(nearest->accelerators), shortfall_text(missing, unit_));
  }

  /// Of the deadline alone.
  [[nodiscard]] std::string later_or_less() const {
    const NearestChange& nearest = *plan_.nearest;
    const TimeUnit unit = unit_of(nearest.deadline);
    const bool is_any_in_time = std::ranges::any_of(
        plan_.sizes, [&](const ClusterSize& size) { return size.meets(plan_.goal.deadline); });
    std::string text =
        fmt::format("{} What would do, on {}:\n  deadline={:g}{}, or about tokens={}",
                    is_any_in_time ? "No size meets the goal." : "None of these sizes is in time.",
                    gpus_text(nearest.accelerators),
                    std::ceil(nearest.deadline.count() / unit.seconds * 10.0) / 10.0, unit.suffix,
                    tokens_text(nearest.tokens, std::floor));
    const double chance = std::floor(nearest.probability * 100.0);
    if (chance > 0.0) text += fmt::format(", or probability={:.0f}%", chance);
    return text;
  }

  const ClusterPlan& plan_;
  TimeUnit unit_;
};

}  // namespace

Answer cluster_plan_answer(const ClusterPlan& plan) {
  const auto document = [&] { return ClusterPlanDocument(plan).document(); };
  return {.text = [=](const Screen& screen) { return brief_text_of(document(), screen.columns); },
          .document = document,
          .json = [&] { return json_document_text(cluster_plan_json(plan)); },
          .csv =
              [&] {
                return csv_of(
                    run_records(plan),
                    {"gpus", "global_batch", "time_s", "median_time_s", "training_time_s",
                     "probability", "cost_usd", "outlay_usd", "energy_J", "power_W",
                     "iteration_time_s", "mfu", "memory_bytes", "on_front", "command_line"});
              }};
}

}  // namespace headway
