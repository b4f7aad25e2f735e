#include "sim/plan/purchase_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/cluster_plan_json.h"
#include "reports/answers/plan_words.h"
#include "reports/answers/strategy_plan.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/decision/objective.h"
#include "sim/result/json/result_json.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

using nlohmann::json;

std::string command_line_of(const ClusterSize& size) {
  const Prediction& prediction = size.runs.front().leader.prediction;
  return prediction.question.provenance->at("command_line").get<std::string>();
}

/// "12 x 18 gb200-nvl72 (864 GPUs)", "114 dgx-b200 (912 GPUs)".
std::string amount_text(const ClusterPlan& plan, const ClusterSize& size) {
  const std::string node = node_of(size);
  const std::string gpus = gpus_text(size.accelerators);
  if (plan.delivered == 1) return fmt::format("{} {} ({})", size.nodes, node, gpus);
  return fmt::format("{} x {} {} ({})", size.nodes / plan.delivered, plan.delivered, node, gpus);
}

/// The deadline; without one the time of the answer.
Seconds typical_time(const PurchasePlan& plan) {
  if (std::isfinite(plan.goal.deadline.count()) || plan.found() == nullptr) {
    return plan.goal.deadline;
  }
  return plan.found()->plan.found()->runs.front().median;
}

constexpr const char* kNoFailures = ", without failures";

/// ", no published step on mi300x": what the interval of such a prediction cannot know.
std::string unseen_text(const ClusterRun& run) {
  const Evidence& accelerator = run.leader.prediction.confidence.accelerator;
  if (accelerator.is_measured || accelerator.steps > 0) return "";
  return ", no published step on " + accelerator.of;
}

class PurchaseDocument {
 public:
  explicit PurchaseDocument(const PurchasePlan& plan)
      : plan_(plan), unit_(unit_of(typical_time(plan))) {
    for (const CandidatePlan& candidate : plan.candidates) {
      const ClusterSize* const size = candidate.plan.shown();
      if (size == nullptr) continue;
      has_prices_ = has_prices_ || size->runs.front().usd;
      buys_ = buys_ || size->bought;
      draws_power_ = draws_power_ || size->power || size->runs.front().energy;
    }
  }

  [[nodiscard]] Document document() const {
    Document document{
        .title = fmt::format("{}: {}{}", plan_.model, goal(), counts_failures() ? "" : kNoFailures),
        .lead = counts()};
    if (plan_.found() != nullptr) document.sections.push_back(answer_on_pages());
    document.sections.push_back({"Candidates", {candidates_figure()}});
    for (const CandidatePlan& candidate : plan_.candidates) add_bill(candidate, document);
    if (plan_.found() == nullptr) {
      document.sections.push_back({"Answer", {Paragraph{others() + none_text()}}});
    } else {
      DocumentSection end{"", {}, Shown::on_terminals};
      if (!note().empty()) end.blocks.emplace_back(Paragraph{note()});
      end.blocks.emplace_back(Paragraph{others() + own_line(unsaid()) + "Simulated alone: " +
                                        command_line_of(size()) + "\n" + answer()});
      document.sections.push_back(std::move(end));
    }
    return document;
  }

 private:
  [[nodiscard]] const std::string& unsaid() const { return plan_.found()->plan.unsaid; }
  [[nodiscard]] const ClusterSize& size() const { return *plan_.found()->plan.found(); }

  [[nodiscard]] bool counts_failures() const {
    return std::ranges::any_of(plan_.candidates, [](const CandidatePlan& candidate) {
      return candidate.plan.counts_failures;
    });
  }

  [[nodiscard]] std::string counts() const {
    std::size_t judged = 0;
    std::ptrdiff_t simulated = 0;
    for (const CandidatePlan& candidate : plan_.candidates) {
      const std::vector<ClusterSize>& sizes = candidate.plan.sizes;
      judged += sizes.size();
      simulated +=
          std::ranges::count_if(sizes, [](const ClusterSize& size) { return !size.runs.empty(); });
    }
    return fmt::format("{} candidates, {} sizes judged by the closed form, {} simulated",
                       plan_.candidates.size(), judged, simulated);
  }

  /// A line of the table: the answer of a candidate, or what comes nearest to one.
  [[nodiscard]] std::vector<std::string> cells(const CandidatePlan& candidate) const {
    const ClusterSize* const size = candidate.plan.shown();
    if (size == nullptr) return {candidate.name, "nothing runs"};
    const ClusterRun& run = size->runs.front();
    const auto or_dash = [](std::string text) { return text.empty() ? "-" : std::move(text); };
    std::vector<std::string> cells = {candidate.name,
                                      amount_text(candidate.plan, *size),
                                      run.leader.prediction.question.strategy,
                                      time_number_text(run),
                                      percent(run.leader.prediction.mfu) + " %",
                                      gib(candidate.plan.capacity - run.leader.memory())};
    if (buys_) {
      cells.push_back(run.usd ? usd_text(*run.usd) : "-");
      cells.push_back(or_dash(usd_text(run.outlay, run.outlay_interval)));
    } else {
      cells.push_back(or_dash(usd_text(run.usd, run.usd_interval)));
    }
    if (draws_power_) {
      cells.push_back(size->power ? short_text(*size->power) : "-");
      cells.push_back(run.energy ? energy_text(*run.energy) : "-");
    }
    cells.push_back(candidate.plan.found() != nullptr
                        ? "meets it"
                        : shortfall_text(shortfall(*size, plan_.goal), unit_));
    return cells;
  }

  [[nodiscard]] std::vector<TextTable::Column> columns() const {
    std::vector<TextTable::Column> columns = {{"candidate"},
                                              {"how many"},
                                              {"strategy"},
                                              {std::string(unit_.name), kRight},
                                              {"MFU", kRight},
                                              {"GiB free", kRight},
                                              {"cost of the run", kRight}};
    if (buys_) columns.push_back({"to pay until then", kRight});
    if (draws_power_) {
      columns.push_back({"power", kRight});
      columns.push_back({"energy", kRight});
    }
    columns.push_back({"the goal"});
    return columns;
  }

  [[nodiscard]] Figure candidates_figure() const {
    TextTable table(columns());
    Chart chart{.kind = Chart::Kind::bars, .x_title = "US$ M, to pay until it is through"};
    Chart::Series outlay{.name = "to pay until it is through", .colour = 0};
    Chart::Series budget{.name = "budget", .style = Chart::Style::dashed, .colour = 1};
    for (const CandidatePlan& candidate : plan_.candidates) {
      table.add_row(cells(candidate));
      const ClusterSize* const size = candidate.plan.shown();
      if (size == nullptr || !size->runs.front().outlay) continue;
      chart.labels.push_back(candidate.name);
      outlay.values.push_back(*size->runs.front().outlay / 1e6);
      if (plan_.goal.budget) budget.values.push_back(*plan_.goal.budget / 1e6);
    }
    chart.series.push_back(std::move(outlay));
    if (plan_.goal.budget) chart.series.push_back(std::move(budget));
    return {.title = "What each candidate takes",
            .caption = fmt::format(
                "Of each candidate the {} that meets the goal, or else the one that "
                "misses it by least. Until the run is through: the median, and from the 5th "
                "to the 95th percentile; a deadline is kept to with a probability of {}. {}",
                superlative_of(plan_.goal.minimize), share_text(plan_.goal.probability), note()),
            .picture = std::move(chart),
            .table = std::move(table)};
  }

  void add_bill(const CandidatePlan& candidate, Document& document) const {
    const ClusterSize* const size = candidate.plan.shown();
    if (size == nullptr) return;
    // What is rented need not be bought.
    const bool is_to_buy = &candidate == plan_.found() && (size->bought || !size->runs.front().usd);
    document.sections.push_back(
        {fmt::format("{}: {}", candidate.name, amount_text(candidate.plan, *size)),
         {bill_table(*size)},
         is_to_buy ? Shown::everywhere : Shown::on_pages});
  }

  [[nodiscard]] std::string note() const {
    return has_prices_ ? money_note(buys_, draws_power_) : "";
  }

  /// What each candidate but the answer lacks, a line each.
  [[nodiscard]] std::string others() const {
    std::string text;
    for (const CandidatePlan& candidate : plan_.candidates) {
      if (&candidate != plan_.found()) text += lacks(candidate) + "\n";
    }
    return text;
  }

  [[nodiscard]] std::string lacks(const CandidatePlan& candidate) const {
    const ClusterSize* const size = candidate.plan.shown();
    if (size == nullptr) {
      return fmt::format("{}: nothing runs on it ({}).", candidate.name,
                         candidate.plan.sizes.empty() ? "no size was looked at"
                                                      : candidate.plan.sizes.front().reason);
    }
    const ClusterRun& run = size->runs.front();
    if (candidate.plan.found() != nullptr) {
      std::vector<std::string> parts = {time_text(run)};
      if (run.usd) parts.push_back(usd_text(run.usd, run.usd_interval));
      parts.push_back(more_than_answer(*size) + unseen_text(run));
      return fmt::format("{}: meets the goal too, with {}: {}.", candidate.name,
                         amount_text(candidate.plan, *size), join_words(parts, ", "));
    }
    const Shortfall missing = shortfall(*size, plan_.goal);
    std::string text =
        fmt::format("{}: {} with {}", candidate.name,
                    missing.is_none() ? "misses the goal" : shortfall_text(missing, unit_),
                    amount_text(candidate.plan, *size));
    if (missing.time <= Seconds(0.0)) {
      text += fmt::format(", in time ({})", time_text(run));
    }
    if (size->power) text += fmt::format("; it draws {}", short_text(*size->power));
    if (run.outlay) text += fmt::format(", {} to pay", usd_text(run.outlay, run.outlay_interval));
    return text + unseen_text(run) + ".";
  }

  /// In what the goal minimises.
  [[nodiscard]] std::string more_than_answer(const ClusterSize& other) const {
    const double more =
        minimised(other, plan_.goal.minimize) - minimised(size(), plan_.goal.minimize);
    switch (plan_.goal.minimize) {
      case TrainingGoal::Minimize::gpus:
        return gpus_text(static_cast<std::int64_t>(more)) + " more";
      case TrainingGoal::Minimize::cost:
        return usd_text(more) + " more";
      case TrainingGoal::Minimize::days:
        return fmt::format("{} {} later", unit_.number(Seconds(more)), unit_.name);
      case TrainingGoal::Minimize::energy:
        return energy_text(Joules(more)) + " more";
    }
    HEADWAY_CHECK(false, "unknown goal");
  }

  /// Which, how many, for how much, when, how.
  [[nodiscard]] std::string answer() const {
    const CandidatePlan& candidate = *plan_.found();
    const ClusterRun& run = size().runs.front();
    std::string text = fmt::format("{}: {}", candidate.name, amount_text(candidate.plan, size()));
    if (run.usd) text += ", " + usd_text(run.usd, run.usd_interval) + " for the run";
    if (run.outlay && run.outlay != run.usd) {
      text += ", " + usd_text(run.outlay, run.outlay_interval) + " to pay until then";
    }
    if (size().power) text += fmt::format(", on {}", short_text(*size().power));
    text += ", through in " + time_text(run);
    text += fmt::format(", with {}{}.", run.leader.prediction.question.strategy, unseen_text(run));
    if (plan_.goal.minimize == TrainingGoal::Minimize::gpus && is_undercut()) {
      text += " It has the fewest GPUs; with minimize=cost the goal takes the cheapest.";
    }
    return text;
  }

  /// Whether another candidate that meets the goal takes less money.
  [[nodiscard]] bool is_undercut() const {
    const std::optional<double> usd = size().runs.front().usd;
    return usd && std::ranges::any_of(plan_.candidates, [&](const CandidatePlan& candidate) {
             const ClusterSize* const found = candidate.plan.found();
             return found != nullptr && found->runs.front().usd.value_or(*usd) < *usd;
           });
  }

  /// "61.2 (51.0 .. 73.5)": the median, and from the 5th to the 95th percentile.
  [[nodiscard]] std::string time_number_text(const ClusterRun& run) const {
    const auto interval = decision_numbers(run.leader.prediction).run_time_interval;
    return unit_.number(run.median) +
           (interval ? fmt::format(" ({})", time_interval_text(*interval)) : "");
  }
  /// "61.2 days (51.0 .. 73.5), 99.9 % within 90.0 days"
  [[nodiscard]] std::string time_text(const ClusterRun& run) const {
    const auto interval = decision_numbers(run.leader.prediction).run_time_interval;
    std::string text = fmt::format("{} {}", unit_.number(run.median), unit_.name);
    if (interval) text += fmt::format(" ({})", time_interval_text(*interval));
    if (!std::isfinite(plan_.goal.deadline.count())) return text;
    return text + fmt::format(", {} % within {} {}", percent(run.probability),
                              unit_.number(plan_.goal.deadline), unit_.name);
  }
  [[nodiscard]] std::string time_interval_text(const Interval& interval) const {
    return fmt::format("{} .. {}", unit_.number(Seconds(interval.low)),
                       unit_.number(Seconds(interval.high)));
  }

  [[nodiscard]] std::string goal() const {
    return goal_text(plan_.goal, plan_.candidates.front().plan.counts_tokens);
  }

  [[nodiscard]] std::string none_text() const {
    return "No candidate meets the goal: " + goal() + ".";
  }

  [[nodiscard]] DocumentSection answer_on_pages() const {
    const ClusterRun& run = size().runs.front();
    const auto time = decision_numbers(run.leader.prediction).run_time_interval;
    KeyNumbers key;
    const auto add = [&](const char* name, std::string median, std::string interval) {
      key.numbers.push_back({name, std::move(median), std::move(interval)});
    };
    add("Through in", fmt::format("{} {}", unit_.number(run.median), unit_.name),
        time ? fmt::format("{} {}", time_interval_text(*time), unit_.name) : "");
    if (run.usd) {
      add("Cost of the run", usd_text(*run.usd), interval_text(run.usd_interval));
    }
    if (run.outlay && run.outlay != run.usd) {
      add("To pay until then", usd_text(*run.outlay), interval_text(run.outlay_interval));
    }
    if (size().power) add("Power to supply", short_text(*size().power), "");
    if (run.energy) add("Energy", energy_text(*run.energy), "");
    return {"Answer",
            {Paragraph{answer()}, std::move(key), Paragraph{others() + own_line(unsaid())},
             Code{.text = command_line_of(size()), .language = "sh"}},
            Shown::on_pages};
  }

  static std::string interval_text(const std::optional<Interval>& interval) {
    if (!interval) return "";
    return fmt::format("US$ {} .. {}", prefixed_count(interval->low),
                       prefixed_count(interval->high));
  }

  const PurchasePlan& plan_;
  TimeUnit unit_;
  bool has_prices_ = false;   ///< of a candidate
  bool buys_ = false;         ///< something of a candidate
  bool draws_power_ = false;  ///< that is known
};

json candidate_json(const CandidatePlan& candidate) {
  json document = cluster_plan_json(candidate.plan);
  for (const char* shared : {"schema", "goal"}) document.erase(shared);
  document["name"] = candidate.name;
  document["cluster"] = candidate.plan.cluster;
  const ClusterSize* const size = candidate.plan.shown();
  document["nearest_size"] =
      size != nullptr ? size_json(*size, candidate.plan.goal) : json(nullptr);
  return document;
}

json purchase_plan_json(const PurchasePlan& plan) {
  json candidates = json::array();
  for (const CandidatePlan& candidate : plan.candidates) {
    candidates.push_back(candidate_json(candidate));
  }
  const CandidatePlan* const found = plan.found();
  return {{"schema", "headway/purchase-plan/1"},
          {"goal", goal_json(plan.goal)},
          {"candidates", std::move(candidates)},
          {"candidate", found != nullptr ? json(found->name) : json(nullptr)}};
}

/// A row a run that was simulated.
std::string purchase_plan_csv(const PurchasePlan& plan) {
  json records = json::array();
  for (const CandidatePlan& candidate : plan.candidates) {
    for (json record : run_records(candidate.plan)) {
      record["candidate"] = candidate.name;
      records.push_back(std::move(record));
    }
  }
  return csv_of(records, {"candidate", "gpus", "global_batch", "time_s", "median_time_s",
                          "training_time_s", "probability", "cost_usd", "outlay_usd", "energy_J",
                          "power_W", "iteration_time_s", "mfu", "memory_bytes", "command_line"});
}

}  // namespace

Answer purchase_plan_answer(const PurchasePlan& plan) {
  const auto document = [&] { return PurchaseDocument(plan).document(); };
  return {.text = [=](const Screen& screen) { return brief_text_of(document(), screen.columns); },
          .document = document,
          .json = [&] { return json_document_text(purchase_plan_json(plan)); },
          .csv = [&] { return purchase_plan_csv(plan); }};
}

}  // namespace headway
