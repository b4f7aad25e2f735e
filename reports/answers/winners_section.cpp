#include "reports/answers/winners_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/sections/study_sections.h"
#include "sim/base/join_words.h"
#include "sim/base/text_table.h"
#include "sim/result/decision/choice.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::string_view kChoices = "/choose/";

/// What takes most of an iteration beside computing: "62 % exposed data-parallel".
std::string beside_computing(const Prediction& prediction) {
  const TimeByCause& breakdown = prediction.breakdown;
  Cause most = Cause::other;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const bool computes = cause == Cause::compute || cause == Cause::recompute;
    if (!computes && breakdown[cause] > breakdown[most]) most = cause;
  }
  return fmt::format("{} % {}", percent(breakdown[most] / breakdown.total()), cause_title(most));
}

/// One of a row's entries, with what it is judged by; more is better.
struct Entry {
  const StudyPoint* point = nullptr;
  Candidate candidate;
  double merit = 0.0;
};

class Winners {
 public:
  Winners(const Study& study, std::size_t compared, Objective objective)
      : study_(study), compared_(compared), objective_(objective) {}

  [[nodiscard]] Objective objective() const { return objective_; }

  [[nodiscard]] TextTable table() const {
    std::vector<TextTable::Column> columns;
    for (std::size_t i = 0; i < axes().size(); ++i) {
      if (i != compared_) columns.push_back({shown(axes()[i].first)});
    }
    for (const char* title : {"best", "its", "largest part beside computing", "behind it", "times",
                              "largest part beside computing"}) {
      columns.push_back({title});
    }
    TextTable table(std::move(columns));
    for (const auto& [others, entries] : rows()) table.add_row(row(others, entries));
    return table;
  }

  [[nodiscard]] std::string sentence() const {
    using Count = std::pair<std::string, int>;
    std::vector<Count> counts;
    const Rows rows = this->rows();
    for (const auto& [others, entries] : rows) {
      if (entries.empty()) continue;
      const std::string name = entries.front().point->axes[compared_].second;
      auto known = std::ranges::find(counts, name, &Count::first);
      if (known == counts.end()) known = counts.insert(counts.end(), {name, 0});
      ++known->second;
    }
    std::ranges::stable_sort(counts, std::greater(), &Count::second);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < axes().size(); ++i) {
      if (i != compared_) names.push_back(shown(axes()[i].first));
    }
    std::string text;
    for (const auto& [name, count] : counts) {
      text += text.empty() ? fmt::format("By {}, {} is best in {} of {} combinations of {}",
                                         objective_title(objective_), name, count, rows.size(),
                                         join_words(names, " and "))
                           : fmt::format(", {} in {}", name, count);
    }
    return text + ".";
  }

 private:
  using Axes = std::vector<std::pair<std::string, std::string>>;
  using Rows = std::vector<std::pair<std::vector<std::string>, std::vector<Entry>>>;

  [[nodiscard]] const Axes& axes() const { return study_.points.front().axes; }
  /// "/choose/network" is "network" for people.
  static std::string shown(const std::string& axis) {
    return axis.starts_with(kChoices) ? axis.substr(kChoices.size()) : axis;
  }

  /// In the order in which they stand, entries best first.
  [[nodiscard]] Rows rows() const {
    Rows rows;
    for (const StudyPoint& point : study_.points) {
      std::vector<std::string> others;
      for (std::size_t i = 0; i < point.axes.size(); ++i) {
        if (i != compared_) others.push_back(point.axes[i].second);
      }
      auto known = std::ranges::find(rows, others, &Rows::value_type::first);
      if (known == rows.end()) known = rows.insert(rows.end(), {others, {}});
      const Candidate candidate = candidate_of(point);
      const auto of = has_speed(point) ? merit(objective_, candidate.numbers) : std::nullopt;
      if (of) known->second.push_back({&point, candidate, *of});
    }
    for (auto& [others, entries] : rows) {
      std::ranges::stable_sort(entries, std::greater(), &Entry::merit);
    }
    return rows;
  }

  [[nodiscard]] std::vector<std::string> row(std::vector<std::string> cells,
                                             const std::vector<Entry>& entries) const {
    if (entries.empty()) {
      cells.emplace_back("none can run");
      cells.resize(axes().size() + 5);
      return cells;
    }
    const auto name = [&](const Entry& entry) { return entry.point->axes[compared_].second; };
    cells.push_back(name(entries.front()));
    cells.push_back(objective_text(objective_, entries.front().candidate.numbers));
    cells.push_back(beside_computing(*entries.front().point->prediction));
    if (entries.size() > 1) {
      const double ratio = entries[1].merit / entries.front().merit;
      cells.push_back(name(entries[1]));
      cells.push_back(fmt::format("{:.2f}", std::max(ratio, 1.0 / ratio)));
      cells.push_back(beside_computing(*entries[1].point->prediction));
    }
    cells.resize(axes().size() + 5);
    return cells;
  }

  const Study& study_;
  std::size_t compared_;
  Objective objective_;
};

/// Nothing where nothing is chosen between, or nothing else varies.
std::optional<Winners> winners_of(const Study& study) {
  if (study.points.empty()) return std::nullopt;
  const auto& axes = study.points.front().axes;
  std::optional<std::size_t> compared;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].first.starts_with(kChoices)) compared = i;
  }
  const std::optional<Choice> choice = choice_of(candidates_of(study));
  if (!compared || axes.size() < 2 || !choice) return std::nullopt;
  return Winners(study, *compared, choice->objective);
}

bool has_several_models(const Study& study) {
  std::set<std::string> models;
  for (const StudyPoint& point : study.points) {
    if (point.prediction) models.insert(point.prediction->question.model);
  }
  return models.size() > 1;
}

}  // namespace

DocumentSection winners_section(const Study& study) {
  DocumentSection section{"Who wins where", {}};
  std::optional<Winners> winners = winners_of(study);
  if (!winners) return section;
  section.blocks.emplace_back(Paragraph{fmt::format(
      "By {}; what the one behind takes more of it, and the largest part of an iteration of each "
      "that is not computing.",
      objective_title(winners->objective()))});
  section.blocks.emplace_back(winners->table());
  return section;
}

std::string winners_sentence(const Study& study) {
  if (!has_several_models(study)) return "";
  const std::optional<Winners> winners = winners_of(study);
  return winners ? winners->sentence() : "";
}

}  // namespace headway
