#include "reports/answers/plan_words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string tier_name(int tier) {
  constexpr std::array kNames = {"node", "leaf", "spine", "core"};
  const auto place = static_cast<std::size_t>(tier) + 1;
  return place < kNames.size() ? kNames.at(place) : fmt::format("tier {}", tier);
}

}  // namespace

TimeUnit unit_of(Seconds deadline) {
  constexpr TimeUnit kDays{"days", "d", 86400.0};
  constexpr TimeUnit kHours{"hours", "h", 3600.0};
  constexpr TimeUnit kMinutes{"minutes", "min", 60.0};
  for (const TimeUnit& unit : {kDays, kHours, kMinutes}) {
    if (deadline.count() >= 2.0 * unit.seconds) return unit;
  }
  return {"seconds", "s", 1.0};
}

std::string TimeUnit::number(Seconds time) const {
  if (!std::isfinite(time.count())) return "never";
  return fmt::format("{:.1f}", time.count() / seconds);
}

std::string tokens_text(double tokens, double (*round)(double)) {
  constexpr std::array<std::pair<double, char>, 3> kUnits{{{1e12, 'T'}, {1e9, 'B'}, {1e6, 'M'}}};
  for (const auto& [unit, suffix] : kUnits) {
    if (tokens >= unit) return fmt::format("{:g}{}", round(tokens / unit * 10.0) / 10.0, suffix);
  }
  return fmt::format("{:.0f}", round(tokens));
}

std::string gpus_text(std::int64_t count) { return counted(count, "GPU"); }

std::string share_text(double of_one) { return fmt::format("{:.4g} %", 100.0 * of_one); }

std::string usd_text(double usd) { return "US$ " + prefixed_count(usd); }

std::string usd_text(const std::optional<double>& usd, const std::optional<Interval>& interval) {
  if (!usd) return "";
  if (!interval) return usd_text(*usd);
  const std::string low = prefixed_count(interval->low);
  const std::string high = prefixed_count(interval->high);
  if (low == high) return usd_text(*usd);
  return fmt::format("{} ({} .. {})", usd_text(*usd), low, high);
}

std::string goal_text(const TrainingGoal& goal, bool counts_tokens) {
  std::string text =
      tokens_text(goal.tokens, std::round) + (counts_tokens ? " tokens" : " samples");
  if (std::isfinite(goal.deadline.count())) {
    const TimeUnit unit = unit_of(goal.deadline);
    text += fmt::format(" within {} {}", unit.number(goal.deadline), unit.name);
  }
  text += fmt::format(" with a probability of {}", share_text(goal.probability));
  if (goal.budget) text += ", for " + usd_text(*goal.budget);
  if (goal.power) text += ", on " + short_text(*goal.power);
  return text;
}

std::string_view superlative_of(TrainingGoal::Minimize minimize) {
  constexpr std::array<std::string_view, 4> kWords = {"fewest", "cheapest", "soonest",
                                                      "thriftiest"};
  return kWords.at(static_cast<std::size_t>(minimize));
}

std::string shortfall_text(const Shortfall& missing, const TimeUnit& unit) {
  std::vector<std::string> parts;
  if (missing.time > Seconds(0.0)) {
    parts.push_back(fmt::format("{} {} late", unit.number(missing.time), unit.name));
  }
  if (missing.usd > 0.0) parts.push_back(usd_text(missing.usd) + " over the budget");
  if (missing.power > Watts(0.0)) parts.push_back(short_text(missing.power) + " over the power");
  return join_words(parts, ", ");
}

std::string energy_text(Joules energy) {
  constexpr double kMegawattHour = 3.6e9;
  constexpr double kManyWattHours = 10.0 * kMegawattHour;
  if (energy.count() < kManyWattHours) return short_text(energy);
  return grouped_digits(std::llround(energy.count() / kMegawattHour)) + " MWh";
}

std::string node_of(const ClusterSize& size) {
  const nlohmann::json& scenario = size.runs.front().leader.prediction.question.scenario;
  return scenario.at("cluster").at("topology").at("node").at("name").get<std::string>();
}

TextTable bill_table(const ClusterSize& size) {
  const BillOfMaterials& bill = size.bill;
  const nlohmann::json& scenario = size.runs.front().leader.prediction.question.scenario;
  const auto spares =
      scenario.value("reliability", nlohmann::json::object()).value("spare_nodes", std::int64_t{0});
  TextTable table({{"what to buy"}, {"count", TextTable::Align::right}, {"of which"}});
  table.add_row({"nodes", grouped_digits(bill.nodes),
                 fmt::format("{}, {}, {} NICs", node_of(size), gpus_text(bill.accelerators),
                             grouped_digits(bill.nics))});
  if (spares > 0) table.add_row({"spare nodes", grouped_digits(spares), ""});
  for (std::size_t tier = 0; tier < bill.switches.size(); ++tier) {
    table.add_row({fmt::format("{} switches", tier_name(static_cast<int>(tier))),
                   grouped_digits(bill.switches[tier]), ""});
  }
  for (const BillOfMaterials::Cables& cables : bill.cables) {
    table.add_row(
        {fmt::format("cables {} to {}", tier_name(cables.lower_tier), tier_name(cables.upper_tier)),
         grouped_digits(cables.count),
         fmt::format("{:.4g} m of {}, {}", cables.metres, cable_name(cables.kind),
                     short_text(cables.bandwidth))});
  }
  if (bill.transceivers() > 0) {
    table.add_row(
        {"transceivers", grouped_digits(bill.transceivers()), "two for each cable of fibre"});
  }
  return table;
}

std::string money_note(bool buys, bool draws_power) {
  std::string text =
      buys ? "The cost of the run counts what it uses up of what is bought; to pay until it is "
             "through are purchases in full. Both from the 5th to the 95th percentile"
           : "Money is from the 5th to the 95th percentile";
  text += "; a budget is kept to at the 95th.";
  if (draws_power) text += " Power is what the building has to supply at most.";
  return text;
}

}  // namespace headway
