#include "reports/answers/cluster_plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr double kGib = 1 << 30;
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

class ClusterPlanText {
 public:
  explicit ClusterPlanText(const ClusterPlan& plan)
      : plan_(plan), unit_(unit_of(plan.goal.deadline)) {}

  std::string text() && {
    const TrainingGoal& goal = plan_.goal;
    text_ = fmt::format("{} on {}: {} tokens within {} {} with a probability of {}, {}\n",
                        plan_.model, plan_.cluster, tokens_text(goal.tokens, std::round),
                        time(goal.deadline), unit_.name, share(goal.probability),
                        plan_.counts_failures ? "failures counted" : "without failures");
    add_counts();
    add_table();
    if (plan_.found() != nullptr) {
      add_answer();
    } else {
      add_nearest();
    }
    return std::move(text_);
  }

 private:
  /// In the unit of the deadline.
  [[nodiscard]] std::string time(Seconds time) const {
    if (!std::isfinite(time.count())) return "never";
    return fmt::format("{:.1f}", time.count() / unit_.seconds);
  }

  void add_counts() {
    std::map<std::string, int> reasons;
    int simulated = 0;
    for (const ClusterSize& size : plan_.sizes) {
      if (!size.can_run()) ++reasons[size.reason];
      if (!size.runs.empty()) ++simulated;
    }
    text_ += fmt::format("{} sizes judged by the closed form, from {} to {}; {} simulated\n",
                         plan_.sizes.size(), gpus(plan_.sizes.front().accelerators),
                         gpus(plan_.sizes.back().accelerators), simulated);
    for (const auto& [reason, count] : reasons) {
      text_ += fmt::format("on {} of them nothing can run: {}\n", count, reason);
    }
    if (!reasons.empty() && plan_.goal.batch_within == 0.0) {
      text_ += "batch_within=5% in the goal lets the global batch follow the size\n";
    }
    text_ += "\n";
  }

  void add_table() {
    constexpr auto kRight = TextTable::Align::right;
    TextTable table({{"GPUs", kRight},
                     {"strategy"},
                     {"iteration", kRight},
                     {"MFU", kRight},
                     {std::string(unit_.name), kRight},
                     {"in time", kRight},
                     {"US$", kRight},
                     {"GiB free", kRight},
                     {"front"}});
    bool has_rows = false;
    for (const ClusterSize& size : plan_.sizes) {
      for (const ClusterRun& run : size.runs) {
        if (&run != &size.runs.front() && !is_worth_a_line(size, run)) continue;
        table.add_row(cells(size, run));
        has_rows = true;
      }
    }
    if (has_rows) text_ += table.text(2) + "\n";
  }

  /// Beside the fastest of its size: it leaves most memory, and clearly more.
  [[nodiscard]] bool is_worth_a_line(const ClusterSize& size, const ClusterRun& run) const {
    const Bytes gained = memory_of(size.runs.front()) - memory_of(run);
    return run.is_on_front && gained >= kWorthwhileSlack * plan_.capacity &&
           &run == &*std::ranges::min_element(size.runs, {}, memory_of);
  }

  /// With what a strategy for less memory sets otherwise than the fastest of its size.
  [[nodiscard]] static std::string strategy_text(const ClusterSize& size, const ClusterRun& run) {
    const auto field = [](const ClusterRun& of, const char* name) {
      return of.leader.result->at("scenario").at("strategy").at(name);
    };
    std::string text = run.leader.result->at("question").at("strategy").get<std::string>();
    for (const auto& [name, shown] :
         {std::pair{"micro_batch", "mb"}, {"zero_stage", "zero"}, {"recompute", "recompute"}}) {
      const json value = field(run, name);
      if (value == field(size.runs.front(), name)) continue;
      text += fmt::format(", {} {}", shown,
                          value.is_string() ? value.get<std::string>() : value.dump());
    }
    return text;
  }

  [[nodiscard]] std::vector<std::string> cells(const ClusterSize& size,
                                               const ClusterRun& run) const {
    const json& result = run.leader.result;
    return {grouped_digits(size.accelerators),
            strategy_text(size, run),
            TimeScale(run.leader.time()).with_unit(run.leader.time()),
            percent(result.at("mfu").get<double>()) + " %",
            time(run.needed),
            percent(run.probability) + " %",
            run.usd ? prefixed_count(*run.usd) : "-",
            fmt::format("{:.1f}", (plan_.capacity - run.leader.memory()).count() / kGib),
            run.is_on_front ? "*" : ""};
  }

  void add_answer() {
    const ClusterSize& answer = *plan_.found();
    const ClusterRun& run = answer.runs.front();
    const bool is_cheapest = plan_.goal.minimize == TrainingGoal::Minimize::usd;
    text_ += fmt::format("{}: until the run is through with that probability\n", unit_.name);
    text_ += "* no other simulated is as good in time, GPUs, price and free memory\n\n";
    text_ += fmt::format("{} are the {} in time: {} {} with {}, {} % in {} {}.\n",
                         gpus(answer.accelerators), is_cheapest ? "cheapest" : "fewest",
                         time(run.needed), unit_.name, share(plan_.goal.probability),
                         percent(run.probability), time(plan_.goal.deadline), unit_.name);
    text_ += fmt::format(
        "  {} {} train{}, {} are the margin for {}\n", time(run.training), unit_.name,
        plan_.counts_failures
            ? fmt::format(", {} go to failures and checkpoints", time(run.median - run.training))
            : "",
        time(run.needed - run.median), share(plan_.goal.probability));
    if (run.usd) text_ += fmt::format("  US$ {} on average\n", prefixed_count(*run.usd));
    text_ += "What binds: " + binding() + "\n";
    text_ += run.leader.closing + "\n";
    text_ +=
        "The answer: " + run.leader.result->at("provenance").at("command_line").get<std::string>() +
        "\n";
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

  void add_nearest() {
    if (!plan_.nearest) {
      text_ += "Nothing on these sizes is in time, nor in a thousand times the deadline.\n";
      return;
    }
    const NearestChange& nearest = *plan_.nearest;
    const TimeUnit unit = unit_of(nearest.deadline);
    text_ += fmt::format(
        "None of these sizes is in time. What would do, on {}:\n"
        "  deadline={:g}{}, or about tokens={}",
        gpus(nearest.accelerators),
        std::ceil(nearest.deadline.count() / unit.seconds * 10.0) / 10.0, unit.suffix,
        tokens_text(nearest.tokens, std::floor));
    const double chance = std::floor(nearest.probability * 100.0);
    if (chance > 0.0) text_ += fmt::format(", or probability={:.0f}%", chance);
    text_ += "\n";
  }

  const ClusterPlan& plan_;
  TimeUnit unit_;
  std::string text_;
};

json run_json(const ClusterRun& run) {
  const json& result = run.leader.result;
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

}  // namespace

std::string cluster_plan_text(const ClusterPlan& plan) { return ClusterPlanText(plan).text(); }

json cluster_plan_json(const ClusterPlan& plan) {
  json sizes = json::array();
  for (const ClusterSize& size : plan.sizes) sizes.push_back(size_json(size, plan.goal.deadline));
  const ClusterSize* const answer = plan.found();
  json document = {
      {"schema", "headway/cluster-plan/1"},
      {"goal", goal_json(plan.goal)},
      {"memory_capacity_bytes", plan.capacity.count()},
      {"sizes", std::move(sizes)},
      {"gpus", answer != nullptr ? json(answer->accelerators) : json(nullptr)},
      {"best", answer != nullptr ? *answer->runs.front().leader.result : json(nullptr)}};
  document["nearest"] = nullptr;
  if (plan.nearest) {
    document["nearest"] = {{"gpus", plan.nearest->accelerators},
                           {"deadline_s", plan.nearest->deadline.count()},
                           {"tokens", plan.nearest->tokens},
                           {"probability", plan.nearest->probability}};
  }
  return document;
}

}  // namespace headway
