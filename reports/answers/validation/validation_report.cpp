#include "reports/answers/validation/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/answers/validation/validation_tables.h"
#include "sim/base/quantity_text.h"

namespace headway {
namespace {

/// More rows than this are not read on a terminal: the summary comes instead, and the worst ones.
constexpr std::size_t kMostRowsShown = 40;
constexpr std::size_t kWorstRows = 12;

std::vector<const ValidationRow*> worst_rows(const Validation& validation) {
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : validation.rows) {
    if (row.predicted_s) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::greater(),
                           [](const ValidationRow* row) { return std::abs(row->error()); });
  rows.resize(std::min(rows.size(), kWorstRows));
  return rows;
}

std::vector<const ValidationRow*> all_rows(const Validation& validation) {
  std::vector<const ValidationRow*> rows;
  for (const ValidationRow& row : validation.rows) rows.push_back(&row);
  return rows;
}

/// Whether the rows differ in a property, so that a table by it says something.
bool tells_apart(const Validation& validation, const RowProperty& property) {
  return std::ranges::count(validation.summary, property.name, &ValidationSummary::by) > 1;
}

}  // namespace

std::string validation_text(const Validation& validation, std::size_t columns) {
  const auto text_of = [&](const TextTable& table) { return table.text(0, columns); };
  std::string text;
  if (validation.rows.size() <= kMostRowsShown) {
    text = text_of(row_table(all_rows(validation))) + "\n";
  } else {
    text = fmt::format("The {} rows furthest off of {} (--json has all):\n\n{}\n", kWorstRows,
                       validation.rows.size(), text_of(row_table(worst_rows(validation))));
  }
  text += fmt::format(
      "|error| in %, each row counting once, then each group of near-identical rows:\n\n{}",
      text_of(summary_table(validation, "")));
  for (const RowProperty& property : row_properties()) {
    if (tells_apart(validation, property)) {
      text += "\n" + text_of(summary_table(validation, property.name));
    }
  }
  if (validation.summary.front().refused > 0) text += "\n" + text_of(refusal_table(validation));
  if (!validation.ablations.empty()) {
    text += "\nWithout one term of the cost model:\n\n" + text_of(ablation_table(validation));
  }
  for (const Ablation& ablation : validation.ablations) {
    if (!ablation.moved.empty() && validation.ablations.size() == 1) {
      text += "\n" + text_of(moved_table(ablation));
    }
  }
  return text;
}

}  // namespace headway
