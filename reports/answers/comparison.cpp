#include "sim/result/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "reports/sections/study_sections.h"
#include "sim/base/letter_case.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_text.h"
#include "sim/result/decision/choice.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"
#include "sim/result/words/fabric_remark.h"

namespace headway {
namespace {

/// Effects alone and last that differ by more than this share of A's iteration depend on the order.
constexpr double kOrderMatters = 0.005;

/// A value of the input on a line that stays short.
std::string value_text(const nlohmann::json& value) {
  if (value.is_null()) return "-";
  if (value.is_object()) return value.contains("name") ? value_text(value["name"]) : "...";
  if (value.is_string()) return value.get<std::string>();
  constexpr std::size_t kMost = 40;
  const std::string text = compact_json(value);
  return text.size() <= kMost ? text : text.substr(0, kMost - 3) + "...";
}

std::string changes_text(const std::vector<InputChange>& changes) {
  std::string text;
  for (const InputChange& change : changes) {
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", change.pointer,
                        value_text(change.before), value_text(change.after));
  }
  return text;
}

/// The first of them, where they are many.
std::string few_changes_text(const std::vector<InputChange>& changes) {
  constexpr std::size_t kMost = 3;
  if (changes.size() <= kMost + 1) return changes_text(changes);
  return fmt::format("{} and {} others that only go together",
                     changes_text({changes.begin(), changes.begin() + kMost}),
                     changes.size() - kMost);
}

std::string change_percent(double now, double before) {
  return before > 0.0 ? signed_percent(now / before - 1.0) + " %" : "";
}

std::string signed_part(const TimeScale& scale, Seconds time) {
  const std::string text = scale.part(time);
  return text.starts_with('-') ? text : "+" + text;
}

/// To what a page shows: a tenth of a percent.
bool are_equal(double a, double b) {
  constexpr double kShown = 0.0005;
  return std::abs(a - b) <= kShown * std::max(std::abs(a), std::abs(b));
}

bool depends_on_order(const ChangeEffect& effect, Seconds whole) {
  return effect.alone && effect.last &&
         std::abs(share_of(*effect.alone - *effect.last, whole)) > kOrderMatters;
}

/// "B does not fit in memory: 90.1 GiB of 79.1 GiB on the fullest rank, and was simulated as if it
/// did. "
std::string fit_text(const Comparison& comparison) {
  std::string text;
  for (const auto& [letter, of] : {std::pair{"A", &comparison.a}, {"B", &comparison.b}}) {
    if (of->memory.fits) continue;
    const Bytes needed = fullest_memory(of->memory).total();
    const std::string where = needed > of->memory.capacity
                                  ? fmt::format("{} of {} on the fullest rank", short_text(needed),
                                                short_text(of->memory.capacity))
                                  : host_memory_text(of->memory);
    text += fmt::format("{} does not fit in memory: {}; it was simulated as if it did. ", letter,
                        where);
  }
  return text;
}

/// What both are about beside their throughput, with its intervals.
std::string objectives_text(const Comparison& comparison) {
  const DecisionNumbers a = decision_numbers(comparison.a);
  const DecisionNumbers b = decision_numbers(comparison.b);
  std::string text;
  for (const Objective objective : objectives_beside_throughput({{{}, a}, {{}, b}})) {
    const auto in_a = objective_number(objective, a);
    const auto in_b = objective_number(objective, b);
    if (!in_a || !in_b) continue;
    const std::string title = with_capital(std::string(objective_title(objective)));
    text += fmt::format("{}: {} in A ({}), {} in B ({})", title, objective_text(objective, a),
                        objective_interval_text(objective, a), objective_text(objective, b),
                        objective_interval_text(objective, b));
    const bool is_finite = std::isfinite(*in_a) && std::isfinite(*in_b);
    text += is_finite ? fmt::format(", {}. ", change_percent(*in_b, *in_a)) : ". ";
  }
  return text;
}

/// Why changes of the fabric that do nothing do nothing.
std::vector<std::string> fabric_notes(const Comparison& comparison) {
  std::vector<std::string> notes;
  for (const ChangeEffect& effect : comparison.effects) {
    const bool is_of_links = std::ranges::any_of(
        effect.changes, [](const InputChange& change) { return is_of_fabric(change.pointer); });
    if (!is_of_links || !are_equal(effect.before.count(), effect.after.count())) continue;
    const std::string why = fabric_remark(comparison.b);
    if (why.empty()) continue;
    notes.push_back(fmt::format("{} is without effect: {}.", changes_text(effect.changes), why));
  }
  return notes;
}

DocumentSection answer_of(const Comparison& comparison) {
  const Prediction& a = comparison.a;
  const Prediction& b = comparison.b;
  const TimeScale scale(a.iteration_time);
  const bool is_same = are_equal(throughput_of(a), throughput_of(b)) &&
                       are_equal(a.iteration_time.count(), b.iteration_time.count());
  std::string text = fit_text(comparison) + objectives_text(comparison);
  text +=
      is_same
          ? fmt::format("An iteration takes {} in both, and throughput is {} {}/s.",
                        scale.with_unit(a.iteration_time), prefixed_count(throughput_of(a)),
                        throughput_unit(a))
          : fmt::format(
                "An iteration takes {} in A and {} in B ({}); throughput is {} {}/s and {} ({}).",
                scale.with_unit(a.iteration_time), scale.with_unit(b.iteration_time),
                change_percent(b.iteration_time.count(), a.iteration_time.count()),
                prefixed_count(throughput_of(a)), throughput_unit(a),
                prefixed_count(throughput_of(b)),
                change_percent(throughput_of(b), throughput_of(a)));
  if (comparison.effects.empty()) {
    text += " Nothing that matters differs in their inputs.";
  } else if (is_same) {
    text += " What differs in their inputs changes neither by 0.05 %.";
  } else {
    const ChangeEffect& most =
        *std::ranges::max_element(comparison.effects, {}, [](const ChangeEffect& effect) {
          return std::abs((effect.after - effect.before).count());
        });
    text += fmt::format(" Most of it is due to {}: {} {}.", few_changes_text(most.changes),
                        signed_part(scale, most.after - most.before), scale.unit());
  }
  DocumentSection section{"Answer", {Paragraph{std::move(text)}}};
  for (const std::string& note : fabric_notes(comparison)) {
    section.blocks.emplace_back(Paragraph{note});
  }
  for (const std::string& note : comparison.notes) section.blocks.emplace_back(Notice{note});
  return section;
}

std::string order_text(const std::vector<ChangeEffect>& effects) {
  if (effects.size() > 1) {
    return "From A to B one change after another, greatest first; the steps add up to the "
           "difference. Alone: that change on A. Last: that change where all others are made.";
  }
  return effects.front().changes.size() == 1
             ? "One change makes all of the difference."
             : "These changes are made together, as not each of them makes a scenario alone.";
}

DocumentSection effects_section(const Comparison& comparison) {
  const TimeScale scale(comparison.a.iteration_time);
  TextTable table({{"change"},
                   {"in turn " + scale.unit(), kRight},
                   {"throughput", kRight},
                   {"alone", kRight},
                   {"last", kRight}});
  Chart chart{.kind = Chart::Kind::bars, .x_title = "s of the iteration"};
  Chart::Series series{.name = "in turn", .colour = 0};
  bool order_matters = false;
  const auto known = [&](const std::optional<Seconds>& time) {
    return time ? signed_part(scale, *time) : std::string();
  };
  for (const ChangeEffect& effect : comparison.effects) {
    const Seconds step = effect.after - effect.before;
    const std::string name = changes_text(effect.changes);
    table.add_row({name, signed_part(scale, step),
                   change_percent(effect.throughput_after, effect.throughput_before),
                   known(effect.alone), known(effect.last)});
    chart.labels.push_back(effect.changes.front().pointer +
                           (effect.changes.size() > 1 ? " and others" : ""));
    series.values.push_back(step.count());
    order_matters = order_matters || depends_on_order(effect, comparison.a.iteration_time);
  }
  chart.series.push_back(std::move(series));
  std::string text = order_text(comparison.effects);
  if (order_matters) {
    text +=
        " Where the three differ, changes work together, and what each is worth depends on "
        "the order.";
  }
  return {"Which input makes which part",
          {Paragraph{std::move(text)}, Figure{.title = "What each change does to the iteration",
                                              .caption = "Right of 0: longer.",
                                              .picture = std::move(chart),
                                              .table = std::move(table)}}};
}

DocumentSection breakdown_section(const Comparison& comparison) {
  const TimeScale scale(comparison.a.iteration_time);
  TextTable table({{"cause"}, {"A " + scale.unit(), kRight}, {"B", kRight}, {"change", kRight}});
  Chart chart{.kind = Chart::Kind::stacked_bars, .x_title = "s", .labels = {"A", "B"}};
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const Seconds a = comparison.a.breakdown[cause];
    const Seconds b = comparison.b.breakdown[cause];
    constexpr double kSmallest = 0.0005;
    if (std::max(share_of(a, comparison.a.iteration_time),
                 share_of(b, comparison.b.iteration_time)) < kSmallest) {
      continue;
    }
    const std::string name(cause_title(cause));
    table.add_row({name, scale.part(a), scale.part(b), signed_part(scale, b - a)});
    chart.series.push_back(
        {.name = name, .values = {a.count(), b.count()}, .colour = static_cast<int>(i)});
  }
  table.add_row({"iteration", scale.part(comparison.a.iteration_time),
                 scale.part(comparison.b.iteration_time),
                 signed_part(scale, comparison.b.iteration_time - comparison.a.iteration_time)});
  return {"Where the time goes",
          {Figure{.title = "Causes in A and in B",
                  .caption = "",
                  .picture = std::move(chart),
                  .table = std::move(table)}}};
}

DocumentSection results_section(const Comparison& comparison) {
  const Prediction& a = comparison.a;
  const Prediction& b = comparison.b;
  TextTable table({{"result"}, {"A", kRight}, {"B", kRight}, {"change", kRight}});
  const auto add = [&](const std::string& name, double in_a, double in_b, const std::string& text_a,
                       const std::string& text_b) {
    table.add_row({name, text_a, text_b, change_percent(in_b, in_a)});
  };
  const DecisionNumbers of_a = decision_numbers(a);
  const DecisionNumbers of_b = decision_numbers(b);
  const auto cell = [](Objective objective, const DecisionNumbers& of) {
    const std::string range = objective_interval_text(objective, of);
    return objective_text(objective, of) + (range.empty() ? "" : fmt::format(" ({})", range));
  };
  for (const Objective objective : objectives_beside_throughput({{{}, of_a}, {{}, of_b}})) {
    add(std::string(objective_title(objective)), objective_number(objective, of_a).value_or(0.0),
        objective_number(objective, of_b).value_or(0.0), cell(objective, of_a),
        cell(objective, of_b));
  }
  const auto time_cell = [](const Prediction& of) {
    const TimeScale scale(of.iteration_time);
    return fmt::format("{} ({} .. {})", scale.with_unit(of.iteration_time),
                       scale.number(Seconds(of.iteration_interval.low)),
                       scale.with_unit(Seconds(of.iteration_interval.high)));
  };
  add("iteration", a.iteration_time.count(), b.iteration_time.count(), time_cell(a), time_cell(b));
  add("GPUs", static_cast<double>(a.question.accelerators),
      static_cast<double>(b.question.accelerators), whole_number(a.question.accelerators),
      whole_number(b.question.accelerators));
  add("throughput " + throughput_unit(a) + "/s", throughput_of(a), throughput_of(b),
      prefixed_count(throughput_of(a)), prefixed_count(throughput_of(b)));
  add("model work a GPU", a.model_flops_per_second_per_accelerator,
      b.model_flops_per_second_per_accelerator,
      short_text(FlopsPerSecond(a.model_flops_per_second_per_accelerator)),
      short_text(FlopsPerSecond(b.model_flops_per_second_per_accelerator)));
  add("MFU", a.mfu, b.mfu, percent(a.mfu) + " %", percent(b.mfu) + " %");
  const StageMemory in_a = fullest_memory(a.memory);
  const StageMemory in_b = fullest_memory(b.memory);
  add("memory of the fullest stage", in_a.total().count(), in_b.total().count(),
      short_text(in_a.total()), short_text(in_b.total()));
  for (const auto& [name, part] : kMemoryParts) {
    add(fmt::format("  {}", name), (in_a.*part).count(), (in_b.*part).count(),
        short_text(in_a.*part), short_text(in_b.*part));
  }
  return {"What differs in the results", {std::move(table)}};
}

nlohmann::json known_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
nlohmann::json known_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {known_json(interval->low), known_json(interval->high)};
}

nlohmann::json side_json(const std::string& name, const Prediction& prediction) {
  const DecisionNumbers of = decision_numbers(prediction);
  nlohmann::json causes;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    causes[std::string(cause_name(cause))] = prediction.breakdown[cause].count();
  }
  return {{"name", name},
          {"gpus", prediction.question.accelerators},
          {"iteration_time_s", prediction.iteration_time.count()},
          {"iteration_time_interval_s",
           {prediction.iteration_interval.low, prediction.iteration_interval.high}},
          {"tokens_per_s", prediction.tokens_per_second > 0.0
                               ? nlohmann::json(prediction.tokens_per_second)
                               : nlohmann::json(nullptr)},
          {"samples_per_s", prediction.samples_per_second},
          {"mfu", prediction.mfu},
          {"objective", objective_name(objective_of(of))},
          {"goodput", known_json(of.goodput)},
          {"run_time_s", of.run_time ? known_json(of.run_time->count()) : nlohmann::json(nullptr)},
          {"run_time_interval_s", known_json(of.run_time_interval)},
          {"run_cost_usd", known_json(of.run_usd)},
          {"run_cost_interval_usd", known_json(of.run_usd_interval)},
          {"fits", prediction.memory.fits},
          {"memory_bytes", fullest_memory(prediction.memory).total().count()},
          {"breakdown_s", std::move(causes)}};
}

Document comparison_document(const Comparison& comparison) {
  Document document;
  document.title = fmt::format("{} against {}", comparison.name_b, comparison.name_a);
  document.lead = fmt::format(
      "A: {} on {} {}, {}. B: {} on {} {}, {}.", comparison.a.question.model,
      whole_number(comparison.a.question.accelerators),
      plural(comparison.a.question.accelerators, "GPU"), comparison.a.question.strategy,
      comparison.b.question.model, whole_number(comparison.b.question.accelerators),
      plural(comparison.b.question.accelerators, "GPU"), comparison.b.question.strategy);
  document.sections.push_back(answer_of(comparison));
  if (!comparison.effects.empty()) document.sections.push_back(effects_section(comparison));
  document.sections.push_back(breakdown_section(comparison));
  document.sections.push_back(results_section(comparison));
  return document;
}

nlohmann::json comparison_json(const Comparison& comparison) {
  const auto known = [](const std::optional<Seconds>& time) {
    return time ? nlohmann::json(time->count()) : nlohmann::json(nullptr);
  };
  nlohmann::json effects = nlohmann::json::array();
  for (const ChangeEffect& effect : comparison.effects) {
    nlohmann::json changes = nlohmann::json::array();
    for (const InputChange& change : effect.changes) {
      changes.push_back(
          {{"pointer", change.pointer}, {"before", change.before}, {"after", change.after}});
    }
    effects.push_back({{"changes", std::move(changes)},
                       {"in_turn_s", (effect.after - effect.before).count()},
                       {"alone_s", known(effect.alone)},
                       {"last_s", known(effect.last)},
                       {"throughput_before_per_s", effect.throughput_before},
                       {"throughput_after_per_s", effect.throughput_after}});
  }
  return {{"schema", "headway/comparison/1"},
          {"a", side_json(comparison.name_a, comparison.a)},
          {"b", side_json(comparison.name_b, comparison.b)},
          {"effects", std::move(effects)},
          {"notes", comparison.notes}};
}

/// A row a step on the way from A to B; changes that were made together share one.
std::string comparison_csv(const Comparison& comparison) {
  nlohmann::json records = comparison_json(comparison).at("effects");
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i]["change"] = changes_text(comparison.effects[i].changes);
  }
  return csv_of(records, {"change", "in_turn_s", "alone_s", "last_s", "throughput_before_per_s",
                          "throughput_after_per_s"});
}

}  // namespace

Answer comparison_answer(const Comparison& comparison) {
  return {.text =
              [&](const Screen& screen) {
                return text_of(comparison_document(comparison), screen.columns);
              },
          .document = [&] { return comparison_document(comparison); },
          .json = [&] { return json_text(comparison_json(comparison)); },
          .csv = [&] { return comparison_csv(comparison); }};
}

}  // namespace headway
