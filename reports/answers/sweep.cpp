#include "sim/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/study_document.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/files/json_text.h"
#include "sim/result/decision/choice.h"
#include "sim/result/json/choice_json.h"
#include "sim/result/number_text.h"
#include "sim/sweep/point_columns.h"
#include "sim/sweep/sweep_study.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kMostPointsShown = 40;
constexpr std::size_t kFastest = 10;

/// "3 points", "1 point".
std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped_digits(count), what, count == 1 ? "" : "s");
}

/// What the store has in that column.
std::optional<double> number_of(const SweepPoint& point, std::string_view name) {
  const auto column = std::ranges::find(point_columns(), name, &PointColumn::name);
  const auto place = static_cast<std::size_t>(column - point_columns().begin());
  return place < point.numbers.size() ? point.numbers[place] : std::nullopt;
}

/// What the columns say of a point that was simulated.
DecisionNumbers numbers_of(const SweepPoint& point) {
  DecisionNumbers numbers;
  if (point.status != PointStatus::done) return numbers;
  const auto interval = [&](std::string_view low, std::string_view high) {
    const auto least = number_of(point, low);
    const auto most = number_of(point, high);
    return least && most ? std::optional(Interval{*least, *most}) : std::nullopt;
  };
  const std::optional<double> tokens = number_of(point, "tokens_per_s");
  numbers.accelerators = static_cast<std::int64_t>(number_of(point, "gpus").value_or(0.0));
  numbers.counts_tokens = tokens.has_value();
  numbers.throughput = tokens ? tokens : number_of(point, "samples_per_s");
  numbers.goodput = number_of(point, "goodput");
  if (const auto time = number_of(point, "run_time_s")) numbers.run_time = Seconds(*time);
  numbers.run_usd = number_of(point, "run_cost_usd");
  numbers.goodput_interval = interval("goodput_low", "goodput_high");
  numbers.run_time_interval = interval("run_time_low_s", "run_time_high_s");
  numbers.run_usd_interval = interval("run_cost_low_usd", "run_cost_high_usd");
  return numbers;
}

/// A run that never ends has no number in the store, which others of its sweep have.
std::vector<Candidate> candidates_of(const std::vector<SweepPoint>& points) {
  std::vector<Candidate> candidates;
  bool has_time = false;
  bool has_price = false;
  for (const SweepPoint& point : points) {
    Candidate candidate{.numbers = numbers_of(point)};
    for (const auto& [name, value] : point.axes->items()) {
      candidate.axes.emplace_back(name, unquoted_json(value));
    }
    has_time = has_time || candidate.numbers.run_time;
    has_price = has_price || candidate.numbers.run_usd;
    candidates.push_back(std::move(candidate));
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (Candidate& candidate : candidates) {
    DecisionNumbers& numbers = candidate.numbers;
    if (!numbers.throughput) continue;
    if (has_time && !numbers.run_time) numbers.run_time = Seconds(kNever);
    if (has_price && !numbers.run_usd) numbers.run_usd = kNever;
  }
  return candidates;
}

/// Tokens a second and accelerator, or samples where these have no tokens.
double speed_of(const SweepPoint& point) {
  const double samples =
      number_of(point, "samples_per_s").value_or(0.0) / number_of(point, "gpus").value_or(1.0);
  return number_of(point, "tokens_per_s_per_gpu").value_or(samples);
}

/// "tokens", unless a simulated point has none.
std::string_view counted_by(const std::vector<SweepPoint>& points) {
  const bool has_none = std::ranges::any_of(points, [](const SweepPoint& point) {
    return number_of(point, "samples_per_s") && !number_of(point, "tokens_per_s_per_gpu");
  });
  return has_none ? "samples" : "tokens";
}

std::vector<std::string> cells_of(const SweepPoint& point, const std::vector<Objective>& shown) {
  std::vector<std::string> cells;
  for (const auto& [name, value] : point.axes->items()) cells.push_back(unquoted_json(value));
  if (point.status == PointStatus::done) {
    const Seconds time(number_of(point, "iteration_time_s").value_or(0.0));
    cells.push_back(TimeScale(time).with_unit(time));
    cells.push_back(fmt::format("{:.0f}", speed_of(point)));
    cells.push_back(percent(number_of(point, "mfu").value_or(0.0)) + " %");
    const DecisionNumbers numbers = numbers_of(point);
    for (const Objective objective : shown) {
      const std::string text = objective_text(objective, numbers);
      cells.push_back(text.empty() ? "never" : text);
    }
    cells.emplace_back();
  } else {
    cells.insert(cells.end(), 3 + shown.size(), "-");
    std::string status(status_name(point.status));
    std::ranges::replace(status, '_', ' ');
    cells.push_back(fmt::format("{}: {}", status, point.reason));
  }
  return cells;
}

TextTable point_table(const std::vector<SweepPoint>& points) {
  std::vector<TextTable::Column> columns;
  for (const auto& [name, value] : points.front().axes->items()) {
    columns.push_back({name, TextTable::Align::right});
  }
  columns.push_back({"iteration", TextTable::Align::right});
  columns.push_back({fmt::format("{}/s/GPU", counted_by(points)), TextTable::Align::right});
  columns.push_back({"MFU", TextTable::Align::right});
  const std::vector<Objective> shown = objectives_beside_throughput(candidates_of(points));
  for (const Objective objective : shown) {
    columns.push_back({std::string(objective_title(objective)), TextTable::Align::right});
  }
  columns.push_back({""});
  TextTable table(columns);
  for (const SweepPoint& point : points) table.add_row(cells_of(point, shown));
  return table;
}

/// The best for what the scenario is about; as the table has it where that is the throughput of a
/// GPU.
std::vector<SweepPoint> best_of(const std::vector<SweepPoint>& points,
                                std::optional<Objective> objective) {
  std::vector<std::pair<double, const SweepPoint*>> ranked;
  for (const SweepPoint& point : points) {
    const double rank = !objective || *objective == Objective::throughput
                            ? speed_of(point)
                            : merit(*objective, numbers_of(point))
                                  .value_or(-std::numeric_limits<double>::infinity());
    ranked.emplace_back(rank, &point);
  }
  std::ranges::stable_sort(ranked, std::greater(), &std::pair<double, const SweepPoint*>::first);
  std::vector<SweepPoint> best;
  for (std::size_t i = 0; i < kFastest; ++i) best.push_back(*ranked[i].second);
  return best;
}

json point_json(const SweepPoint& point) {
  json values = {{"key", point.key}, {"axes", *point.axes}, {"status", status_name(point.status)}};
  values["reason"] = point.reason.empty() ? json(nullptr) : json(point.reason);
  for (const PointColumn& column : point_columns()) {
    const auto value = number_of(point, column.name);
    values[std::string(column.name)] = value ? json(*value) : json(nullptr);
  }
  return values;
}

/// How many points there are of each reason, the most frequent first.
std::vector<std::pair<std::string, std::int64_t>> reasons_of(const std::vector<SweepPoint>& points,
                                                             PointStatus status) {
  std::map<std::string, std::int64_t> counts;
  for (const SweepPoint& point : points) {
    if (point.status == status) ++counts[point.reason];
  }
  std::vector<std::pair<std::string, std::int64_t>> reasons(counts.begin(), counts.end());
  std::ranges::stable_sort(reasons, std::greater(), &std::pair<std::string, std::int64_t>::second);
  return reasons;
}

/// What a run did, and the points of the store: all where they are few, else the fastest for their
/// size.
Document run_document(const SweepSummary& summary, const SweepContent& content,
                      const std::filesystem::path& store) {
  Document document{
      .title = fmt::format("{}: {} simulated, {} do not fit, {} refused, {} failed, {} done before",
                           counted(summary.points, "point"), summary.simulated,
                           summary.does_not_fit, summary.refused, summary.failed, summary.settled)};
  const std::vector<Candidate> candidates = candidates_of(content.points);
  const std::optional<Choice> choice = choice_of(candidates);
  const bool has_many = content.points.size() > kMostPointsShown;
  if (has_many) {
    const bool by_rate = !choice || choice->objective == Objective::throughput;
    document.lead = fmt::format(
        "the {} of {} {}:", kFastest, counted(std::ssize(content.points), "stored point"),
        by_rate ? fmt::format("with the most {} a second and GPU", counted_by(content.points))
                : fmt::format("with the best {}", objective_title(choice->objective)));
  }
  if (!content.points.empty()) {
    const std::optional<Objective> objective =
        choice ? std::optional(choice->objective) : std::nullopt;
    document.sections.push_back(
        {"Points", {point_table(has_many ? best_of(content.points, objective) : content.points)}});
  }
  if (choice && candidates.size() > 1) {
    document.sections.push_back({"Answer", {Paragraph{choice_text(*choice, candidates)}}});
  }
  document.sections.push_back({"Store", {Paragraph{"store: " + store.string()}}});
  return document;
}

json sweep_json(const SweepSummary& summary, const SweepContent& content,
                const std::filesystem::path& store) {
  json points = json::array();
  for (const SweepPoint& point : content.points) points.push_back(point_json(point));
  return {{"schema", "headway/sweep/2"},
          {"choice", choice_json(candidates_of(content.points))},
          {"store", store.string()},
          {"counts",
           {{"points", summary.points},
            {"done_before", summary.settled},
            {"simulated", summary.simulated},
            {"does_not_fit", summary.does_not_fit},
            {"refused", summary.refused},
            {"failed", summary.failed}}},
          {"points", std::move(points)}};
}

Document plan_document(const std::vector<SweepPoint>& points, std::int64_t all) {
  const auto count_of = [&](PointStatus status) {
    return std::ranges::count(points, status, &SweepPoint::status);
  };
  Document document{
      .title = fmt::format("{}, {} to do: {} to simulate, {} do not fit, {} refused",
                           counted(all, "point"), points.size(), count_of(PointStatus::done),
                           count_of(PointStatus::does_not_fit), count_of(PointStatus::refused))};
  for (const auto& [reason, count] : reasons_of(points, PointStatus::refused)) {
    document.lead += fmt::format("{}  refused {}: {}", document.lead.empty() ? "" : "\n",
                                 counted(count, "time"), reason);
  }
  return document;
}

json sweep_plan_json(const std::vector<SweepPoint>& points, std::int64_t all) {
  json list = json::array();
  for (const SweepPoint& point : points) {
    const bool is_done = point.status == PointStatus::done;
    list.push_back({{"key", point.key},
                    {"axes", *point.axes},
                    {"status", is_done ? "to_simulate" : std::string(status_name(point.status))},
                    {"reason", point.reason.empty() ? json(nullptr) : json(point.reason)}});
  }
  return {{"schema", "headway/sweep-plan/1"}, {"points", all}, {"to_do", std::move(list)}};
}

}  // namespace

Answer sweep_answer(const SweepSummary& summary, const std::filesystem::path& folder) {
  const std::filesystem::path store = folder / kStoreFile;
  const auto content =
      std::make_shared<const SweepContent>(read_sweep(folder, Predictions::left_out));
  const auto study = [folder] { return study_of(read_sweep(folder, Predictions::read)); };
  return {.text =
              [=](const Screen& screen) {
                return brief_text_of(run_document(summary, *content, store), screen.columns);
              },
          .document = [=] { return study_document(study()); },
          .json = [=] { return json_document_text(sweep_json(summary, *content, store)); },
          .csv = [=] { return study_csv(study()); }};
}

Answer sweep_plan_answer(const std::vector<SweepPoint>& points, std::int64_t all) {
  return {
      .text =
          [&, all](const Screen& screen) {
            return brief_text_of(plan_document(points, all), screen.columns);
          },
      .document = [&, all] { return plan_document(points, all); },
      .json = [&, all] { return json_document_text(sweep_plan_json(points, all)); },
      .csv =
          [&, all] {
            return csv_of(sweep_plan_json(points, all).at("to_do"), {"axes", "status", "reason"});
          }};
}

}  // namespace headway
