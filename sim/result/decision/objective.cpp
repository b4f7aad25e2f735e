#include "sim/result/decision/objective.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/result/decision/run_time.h"
#include "sim/result/number_text.h"
#include "sim/result/run_cost.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

constexpr double kSecondsPerDay = 86400.0;

struct ObjectiveWords {
  std::string_view name;
  std::string_view title;
  std::string_view superlative;
};

/// In the order of `Objective`.
constexpr std::array<ObjectiveWords, kObjectives.size()> kObjectiveWords{{
    {"run_cost_usd", "cost of the run", "The cheapest is"},
    {"run_time_s", "time to train", "The soonest through is"},
    {"post_training_step_s", "step of post-training", "The shortest step has"},
    {"goodput", "goodput", "The best goodput has"},
    {"throughput", "throughput", "The fastest is"},
}};

const ObjectiveWords& words_of(Objective objective) {
  return kObjectiveWords.at(static_cast<std::size_t>(objective));
}

/// A number of the unit, without it.
std::string number_text(Objective objective, double number) {
  if (!std::isfinite(number)) return "never";
  switch (objective) {
    case Objective::run_cost:
    case Objective::throughput:
      return prefixed_count(number);
    case Objective::run_time:
    case Objective::post_training:
      return number < 100.0 ? fmt::format("{:.3g}", number) : fmt::format("{:.0f}", number);
    case Objective::goodput:
      return fmt::format("{:.1f}", number);
  }
  HEADWAY_CHECK(false, "unknown objective");
}

/// What the numbers of an objective are told in where they stand alone: short runs not in days.
struct ShownUnit {
  std::string name;
  double size = 1.0;  ///< in the objective's own unit
};

ShownUnit shown_unit(Objective objective, const DecisionNumbers& of) {
  const std::optional<double> number = objective_number(objective, of);
  const std::string unit = objective_unit(objective, of);
  constexpr double kHour = 1.0 / 24.0;
  constexpr double kMinute = kHour / 60.0;
  if (objective != Objective::run_time || !number || *number >= 1.0) return {unit};
  if (*number >= 2.0 * kHour) return {"hours", kHour};
  return *number >= 2.0 * kMinute ? ShownUnit{"min", kMinute} : ShownUnit{"s", kMinute / 60.0};
}

std::string with_unit(Objective objective, const std::string& number, const std::string& unit) {
  if (number == "never") return number;
  if (unit == "days" && number == "1") return "1 day";
  return objective == Objective::run_cost ? unit + " " + number : number + " " + unit;
}

/// From a value in SI units to one in the objective's.
double in_units(Objective objective, double value) {
  if (objective == Objective::run_time) return value / kSecondsPerDay;
  return objective == Objective::goodput ? 100.0 * value : value;
}

}  // namespace

DecisionNumbers decision_numbers(const Prediction& prediction) {
  DecisionNumbers numbers{.accelerators = prediction.question.accelerators,
                          .counts_tokens = prediction.counts_tokens()};
  if (!was_simulated(prediction)) return numbers;
  const double rate = prediction.throughput();
  const double work = rate * prediction.iteration_time.count();
  const Interval& time = prediction.iteration_interval;
  numbers.throughput = rate;
  if (time.low > 0.0) numbers.throughput_interval = Interval{work / time.high, work / time.low};
  if (prediction.post_training) {
    numbers.accelerators = prediction.post_training->accelerators;
    numbers.post_training_step = prediction.post_training->step;
  }
  if (prediction.reliability) {
    const Percentiles& goodput = prediction.reliability->goodput;
    numbers.goodput = goodput.mean;
    numbers.goodput_interval = Interval{goodput.low, goodput.high};
  }
  if (const auto through = run_time(prediction)) {
    numbers.run_time = through->at(0.5);
    numbers.run_time_interval = through->interval();
    // A run of a given time costs least where least is trained: its price decides nothing.
    if (const auto cost = run_cost(prediction); cost && cost->run) {
      numbers.run_usd = cost->run->usd();
      numbers.run_usd_interval = cost->run->usd_interval();
    }
  }
  return numbers;
}

std::string_view objective_name(Objective objective) { return words_of(objective).name; }
std::string_view objective_title(Objective objective) { return words_of(objective).title; }
std::string_view superlative(Objective objective) { return words_of(objective).superlative; }

std::string objective_unit(Objective objective, const DecisionNumbers& of) {
  switch (objective) {
    case Objective::run_cost:
      return "US$";
    case Objective::run_time:
      return "days";
    case Objective::post_training:
      return "s";
    case Objective::goodput:
      return "%";
    case Objective::throughput:
      return of.counts_tokens ? "tokens/s" : "samples/s";
  }
  HEADWAY_CHECK(false, "unknown objective");
}

Objective objective_of(const DecisionNumbers& of) {
  for (const Objective objective : kObjectives) {
    if (objective_number(objective, of)) return objective;
  }
  return Objective::throughput;
}

std::optional<double> merit(Objective objective, const DecisionNumbers& of) {
  const std::optional<double> number = objective_number(objective, of);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  switch (objective) {
    case Objective::run_cost:
    case Objective::run_time:
    case Objective::post_training:
      return -*number;
    case Objective::goodput:
      return *of.goodput * *of.throughput;
    case Objective::throughput:
      return number;
  }
  HEADWAY_CHECK(false, "unknown objective");
}

std::optional<double> objective_number(Objective objective, const DecisionNumbers& of) {
  std::optional<double> value;
  switch (objective) {
    case Objective::run_cost:
      value = of.run_usd;
      break;
    case Objective::run_time:
      if (of.run_time) value = of.run_time->count();
      break;
    case Objective::post_training:
      if (of.post_training_step) value = of.post_training_step->count();
      break;
    case Objective::goodput:
      value = of.goodput;
      break;
    case Objective::throughput:
      value = of.throughput;
      break;
  }
  if (value) value = in_units(objective, *value);
  return value;
}

std::optional<Interval> objective_interval(Objective objective, const DecisionNumbers& of) {
  const std::array<std::optional<Interval>, kObjectives.size()> intervals = {
      of.run_usd_interval, of.run_time_interval, std::nullopt, of.goodput_interval,
      of.throughput_interval};
  std::optional<Interval> interval = intervals.at(static_cast<std::size_t>(objective));
  if (interval) {
    interval = Interval{in_units(objective, interval->low), in_units(objective, interval->high)};
  }
  return interval;
}

std::string objective_text(Objective objective, const DecisionNumbers& of) {
  const std::optional<double> number = objective_number(objective, of);
  if (!number) return "";
  const ShownUnit unit = shown_unit(objective, of);
  return with_unit(objective, number_text(objective, *number / unit.size), unit.name);
}

std::string objective_interval_text(Objective objective, const DecisionNumbers& of) {
  const std::optional<Interval> interval = objective_interval(objective, of);
  if (!interval) return "";
  const ShownUnit unit = shown_unit(objective, of);
  const std::string low = number_text(objective, interval->low / unit.size);
  const std::string high = number_text(objective, interval->high / unit.size);
  if (objective == Objective::run_cost) {
    return with_unit(objective, low, unit.name) + " .. " + high;
  }
  return low + " .. " + with_unit(objective, high, unit.name);
}

}  // namespace headway
