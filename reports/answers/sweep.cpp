#include "sim/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/answers/study_document.h"
#include "reports/answers/winners_section.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/files/json_stream.h"
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

using Numbers = std::vector<std::optional<double>>;

/// What the store has in that column.
std::optional<double> number_of(const Numbers& numbers, std::string_view name) {
  const auto column = std::ranges::find(point_columns(), name, &PointColumn::name);
  const auto place = static_cast<std::size_t>(column - point_columns().begin());
  return place < numbers.size() ? numbers[place] : std::nullopt;
}

/// What the columns say of a point that was simulated.
DecisionNumbers numbers_of(PointStatus status, const Numbers& columns) {
  DecisionNumbers numbers;
  if (status != PointStatus::done) return numbers;
  const auto interval = [&](std::string_view low, std::string_view high) {
    const auto least = number_of(columns, low);
    const auto most = number_of(columns, high);
    return least && most ? std::optional(Interval{*least, *most}) : std::nullopt;
  };
  const std::optional<double> tokens = number_of(columns, "tokens_per_s");
  numbers.accelerators = static_cast<std::int64_t>(number_of(columns, "gpus").value_or(0.0));
  numbers.counts_tokens = tokens.has_value();
  numbers.throughput = tokens ? tokens : number_of(columns, "samples_per_s");
  if (const auto step = number_of(columns, "post_training_step_s")) {
    numbers.post_training_step = Seconds(*step);
  }
  numbers.goodput = number_of(columns, "goodput");
  if (const auto time = number_of(columns, "run_time_s")) numbers.run_time = Seconds(*time);
  numbers.run_usd = number_of(columns, "run_cost_usd");
  numbers.goodput_interval = interval("goodput_low", "goodput_high");
  numbers.run_time_interval = interval("run_time_low_s", "run_time_high_s");
  numbers.run_usd_interval = interval("run_cost_low_usd", "run_cost_high_usd");
  return numbers;
}

/// Tokens a second and accelerator, or samples where these have no tokens.
double speed_of(const Numbers& numbers) {
  const double samples =
      number_of(numbers, "samples_per_s").value_or(0.0) / number_of(numbers, "gpus").value_or(1.0);
  return number_of(numbers, "tokens_per_s_per_gpu").value_or(samples);
}

/// Whether it was simulated and has no tokens.
bool counts_samples(const Numbers& numbers) {
  return number_of(numbers, "samples_per_s") && !number_of(numbers, "tokens_per_s_per_gpu");
}

std::string_view counted_by(bool any_counts_samples) {
  return any_counts_samples ? "samples" : "tokens";
}

/// The points of a store, of which there may be a million: whoever asks gets one.
class StoredPoints {
 public:
  explicit StoredPoints(const std::filesystem::path& folder) : stored_(folder) {
    for (std::size_t i = 0; i < size(); ++i) {
      const PointRow& row = stored_.row(i);
      const DecisionNumbers numbers = numbers_of(row.status, row.numbers);
      any_has_time_ = any_has_time_ || numbers.run_time;
      any_has_price_ = any_has_price_ || numbers.run_usd;
      any_counts_samples_ = any_counts_samples_ || counts_samples(row.numbers);
      if (row.status != PointStatus::refused) continue;
      if (refused_++ == 0) first_refusal_ = row.reason;
    }
  }

  [[nodiscard]] const StoredSweep& stored() const { return stored_; }
  [[nodiscard]] std::size_t size() const { return stored_.size(); }
  [[nodiscard]] bool any_counts_samples() const { return any_counts_samples_; }
  /// " 2 of 8 points were refused, the first because ..."; empty where none was.
  [[nodiscard]] std::string refusals() const {
    if (refused_ == 0) return "";
    return fmt::format(" {} of {} {} refused, the first as {}.", refused_,
                       counted(static_cast<std::int64_t>(size()), "point"),
                       agreeing(refused_, "was", "were"), first_refusal_);
  }
  [[nodiscard]] SweepPoint point(std::size_t i) const {
    Diagnostics none;  // without predictions there are no results to read
    return stored_.point(i, Predictions::left_out, none);
  }
  [[nodiscard]] double speed(std::size_t i) const { return speed_of(stored_.row(i).numbers); }

  /// A run that never ends has no number in the store, which others of its sweep have.
  [[nodiscard]] DecisionNumbers numbers(std::size_t i) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const PointRow& row = stored_.row(i);
    DecisionNumbers numbers = numbers_of(row.status, row.numbers);
    if (!numbers.throughput) return numbers;
    if (any_has_time_ && !numbers.run_time) numbers.run_time = Seconds(kNever);
    if (any_has_price_ && !numbers.run_usd) numbers.run_usd = kNever;
    return numbers;
  }

  /// The points as candidates of a choice; they refer to this object.
  [[nodiscard]] Candidates candidates() const {
    return {size(), [this](std::size_t i) { return numbers(i); },
            [this](std::size_t i) {
              decltype(Candidate::axes) axes;
              const SweepPoint of = point(i);
              for (const auto& [name, value] : of.axes->items()) {
                axes.emplace_back(name, unquoted_json(value));
              }
              return axes;
            }};
  }

 private:
  StoredSweep stored_;
  bool any_has_time_ = false;
  bool any_has_price_ = false;
  bool any_counts_samples_ = false;
  std::int64_t refused_ = 0;
  std::string first_refusal_;
};

std::vector<std::string> cells_of(const SweepPoint& point, const std::vector<Objective>& shown) {
  std::vector<std::string> cells;
  for (const auto& [name, value] : point.axes->items()) cells.push_back(unquoted_json(value));
  if (point.status == PointStatus::done) {
    const Seconds time(number_of(point.numbers, "iteration_time_s").value_or(0.0));
    cells.push_back(TimeScale(time).with_unit(time));
    cells.push_back(fmt::format("{:.0f}", speed_of(point.numbers)));
    cells.push_back(percent(number_of(point.numbers, "mfu").value_or(0.0)) + " %");
    const DecisionNumbers numbers = numbers_of(point.status, point.numbers);
    for (const Objective objective : shown) {
      const std::string text = objective_text(objective, numbers);
      cells.push_back(text.empty() ? "never" : text);
    }
    cells.emplace_back();
  } else {
    cells.insert(cells.end(), 3 + shown.size(), "-");
    std::string status(word_of(point.status));
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
  std::vector<Candidate> numbers;
  bool any_counts_samples = false;
  for (const SweepPoint& point : points) {
    numbers.push_back({.axes = {}, .numbers = numbers_of(point.status, point.numbers)});
    any_counts_samples = any_counts_samples || counts_samples(point.numbers);
  }
  columns.push_back({"iteration", TextTable::Align::right});
  columns.push_back(
      {fmt::format("{}/s/GPU", counted_by(any_counts_samples)), TextTable::Align::right});
  columns.push_back({"MFU", TextTable::Align::right});
  const std::vector<Objective> shown = objectives_beside_throughput(numbers);
  for (const Objective objective : shown) {
    columns.push_back({std::string(objective_title(objective)), TextTable::Align::right});
  }
  columns.push_back({""});
  TextTable table(columns);
  for (const SweepPoint& point : points) table.add_row(cells_of(point, shown));
  return table;
}

/// The best for what the scenario is about; as the table has it where that is the throughput of a
/// GPU. Of equal ones the first.
std::vector<SweepPoint> best_of(const StoredPoints& points, std::optional<Objective> objective) {
  using Ranked = std::pair<double, std::size_t>;
  std::vector<Ranked> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double rank = !objective || *objective == Objective::throughput
                            ? points.speed(i)
                            : merit(*objective, points.numbers(i))
                                  .value_or(-std::numeric_limits<double>::infinity());
    if (best.size() == kFastest && rank <= best.back().first) continue;
    best.insert(std::ranges::upper_bound(best, rank, std::greater(), &Ranked::first), {rank, i});
    if (best.size() > kFastest) best.pop_back();
  }
  std::vector<SweepPoint> found;
  for (const auto& [unused, i] : best) found.push_back(points.point(i));
  return found;
}

std::vector<SweepPoint> all_of(const StoredPoints& points) {
  std::vector<SweepPoint> all;
  for (std::size_t i = 0; i < points.size(); ++i) all.push_back(points.point(i));
  return all;
}

/// Of sweeps over alternatives whose models differ; only these are worth the reading of every
/// prediction.
std::string winners_text(const StoredPoints& points) {
  const auto axes = points.candidates().axes(0);
  const bool compares = axes.size() > 1 && std::ranges::any_of(axes, [](const auto& axis) {
                          return axis.first.starts_with("/choose/");
                        });
  return compares ? winners_sentence(study_of(points.stored())) : "";
}

json point_json(const SweepPoint& point) {
  json values = {{"key", point.key}, {"axes", *point.axes}, {"status", word_of(point.status)}};
  values["reason"] = point.reason.empty() ? json(nullptr) : json(point.reason);
  for (const PointColumn& column : point_columns()) {
    const auto value = number_of(point.numbers, column.name);
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
Document run_document(const SweepSummary& summary, const StoredPoints& points,
                      const std::filesystem::path& store) {
  Document document{
      .title = fmt::format("{}: {} simulated, {} {} not fit, {} refused, {} failed, {} done before",
                           counted(summary.points, "point"), summary.simulated,
                           summary.does_not_fit, agreeing(summary.does_not_fit, "does", "do"),
                           summary.refused, summary.failed, summary.settled)};
  const Candidates candidates = points.candidates();
  const std::optional<Choice> choice = choice_of(candidates);
  const bool has_many = points.size() > kMostPointsShown;
  if (has_many) {
    const bool by_rate = !choice || choice->objective == Objective::throughput;
    document.lead =
        fmt::format("the {} of {} {}:", kFastest,
                    counted(static_cast<std::int64_t>(points.size()), "stored point"),
                    by_rate ? fmt::format("with the most {} a second and GPU",
                                          counted_by(points.any_counts_samples()))
                            : fmt::format("with the best {}", objective_title(choice->objective)));
  }
  if (points.size() > 0) {
    const std::optional<Objective> objective =
        choice ? std::optional(choice->objective) : std::nullopt;
    document.sections.push_back(
        {"Points", {point_table(has_many ? best_of(points, objective) : all_of(points))}});
  }
  if (choice && points.size() > 1) {
    const std::string winners = winners_text(points);
    document.sections.push_back(
        {"Answer",
         {Paragraph{(winners.empty() ? choice_text(*choice, candidates) : winners) +
                    points.refusals()}}});
  }
  if (points.size() > 0 && !choice) {
    document.sections.push_back(
        {"Answer", {Paragraph{"No point could be simulated: each says why."}}});
  }
  document.sections.push_back({"Store", {Paragraph{"store: " + store.string()}}});
  return document;
}

void write_sweep_json(const SweepSummary& summary, const StoredPoints& points,
                      const std::filesystem::path& store, std::ostream& out) {
  JsonStream document(out);
  write_choice(document, points.candidates());
  document.member("counts", {{"points", summary.points},
                             {"done_before", summary.settled},
                             {"simulated", summary.simulated},
                             {"does_not_fit", summary.does_not_fit},
                             {"refused", summary.refused},
                             {"failed", summary.failed}});
  document.begin_list("points");
  for (std::size_t i = 0; i < points.size(); ++i) document.element(point_json(points.point(i)));
  document.end();
  document.member("schema", "headway/sweep/2");
  document.member("store", store.string());
  document.finish();
}

void write_sweep_csv(const StoredSweep& stored, std::ostream& out) {
  StudyCsv csv(out);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    Diagnostics diagnostics;
    const SweepPoint point = stored.point(i, Predictions::read, diagnostics);
    diagnostics.throw_if_errors();
    csv.add(study_point(point));
  }
}

Document plan_document(const std::vector<SweepPoint>& points, std::int64_t all) {
  const auto count_of = [&](PointStatus status) {
    return std::ranges::count(points, status, &SweepPoint::status);
  };
  const auto too_large = count_of(PointStatus::does_not_fit);
  Document document{.title = fmt::format("{}, {} to do: {} to simulate, {} {} not fit, {} refused",
                                         counted(all, "point"), points.size(),
                                         count_of(PointStatus::done), too_large,
                                         agreeing(too_large, "does", "do"),
                                         count_of(PointStatus::refused))};
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
                    {"status", is_done ? "to_simulate" : std::string(word_of(point.status))},
                    {"reason", point.reason.empty() ? json(nullptr) : json(point.reason)}});
  }
  return {{"schema", "headway/sweep-plan/1"}, {"points", all}, {"to_do", std::move(list)}};
}

}  // namespace

Answer sweep_answer(const SweepSummary& summary, const std::filesystem::path& folder) {
  const std::filesystem::path store = folder / kStoreFile;
  const auto points = std::make_shared<const StoredPoints>(folder);
  return {.text =
              [=](const Screen& screen) {
                return brief_text_of(run_document(summary, *points, store), screen.columns);
              },
          .document = [=] { return study_document(study_of(points->stored())); },
          .json = [=](std::ostream& out) { write_sweep_json(summary, *points, store, out); },
          .csv = [=](std::ostream& out) { write_sweep_csv(points->stored(), out); }};
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
