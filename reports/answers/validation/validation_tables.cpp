#include "reports/answers/validation/validation_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

/// An id that leaves room for the numbers within 100 columns.
std::string short_id(const std::string& id) {
  constexpr std::size_t kMost = 46;
  std::string shown = printable(id);
  if (character_count(shown) <= kMost) return shown;
  return shown.substr(0, character_position(shown, kMost - 3)) + "...";
}

std::string title_of(std::string_view property) {
  const auto found = std::ranges::find(row_properties(), property, &RowProperty::name);
  return found == row_properties().end() ? "" : std::string(found->title);
}

}  // namespace

TextTable row_table(const std::vector<const ValidationRow*>& rows) {
  TextTable table({{"row"},
                   {"GPUs", kRight},
                   {"published", kRight},
                   {"predicted", kRight},
                   {"error %", kRight},
                   {"refused"}});
  for (const ValidationRow* row : rows) {
    const bool is_predicted = row->predicted_s.has_value();
    table.add_row({short_id(row->id), grouped_digits(row->accelerators),
                   short_text(Seconds(row->published_s)),
                   is_predicted ? short_text(Seconds(*row->predicted_s)) : "",
                   is_predicted ? signed_percent(row->error()) : "", printable(row->refused)});
  }
  return table;
}

TextTable summary_table(const Validation& validation, std::string_view property) {
  TextTable table({{title_of(property)},
                   {"rows", kRight},
                   {"refused", kRight},
                   {"mean", kRight},
                   {"median", kRight},
                   {"p90", kRight},
                   {"worst", kRight},
                   {"bias", kRight},
                   {"inside", kRight},
                   {"groups", kRight},
                   {"mean", kRight},
                   {"median", kRight},
                   {"bias", kRight}});
  for (const ValidationSummary& group : validation.summary) {
    if (group.by != property) continue;
    std::vector<std::string> cells = {printable(group.group), grouped_digits(group.rows.count),
                                      grouped_digits(group.refused)};
    if (group.rows.count > 0) {
      for (const double error :
           {group.rows.mean, group.rows.median, group.rows.p90, group.rows.worst}) {
        cells.push_back(percent(error));
      }
      cells.push_back(signed_percent(group.rows.bias));
      cells.push_back(fmt::format("{:.0f}", 100.0 * group.rows.covered));
      cells.push_back(grouped_digits(group.groups.count));
      cells.push_back(percent(group.groups.mean));
      cells.push_back(percent(group.groups.median));
      cells.push_back(signed_percent(group.groups.bias));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

TextTable refusal_table(const Validation& validation) {
  std::map<std::string, std::int64_t> counts;
  for (const ValidationRow& row : validation.rows) {
    if (!row.predicted_s) ++counts[row.refused];
  }
  TextTable table({{"refused", kRight}, {"because"}});
  for (const auto& [reason, count] : counts) {
    table.add_row({grouped_digits(count), printable(reason)});
  }
  return table;
}

TextTable ablation_table(const Validation& validation) {
  TextTable table({{"without"},
                   {"mean", kRight},
                   {"change", kRight},
                   {"median", kRight},
                   {"bias", kRight},
                   {"rows moved", kRight},
                   {"most", kRight},
                   {"of row"}});
  const ErrorStatistics& all = validation.summary.front().rows;
  table.add_row({"nothing", percent(all.mean), "", percent(all.median), signed_percent(all.bias)});
  for (const Ablation& ablation : validation.ablations) {
    std::vector<std::string> cells = {ablation.term,
                                      percent(ablation.without.mean),
                                      signed_percent(ablation.without.mean - all.mean),
                                      percent(ablation.without.median),
                                      signed_percent(ablation.without.bias),
                                      grouped_digits(std::ssize(ablation.moved))};
    if (!ablation.moved.empty()) {
      const Ablation::Row& most = ablation.moved.front();
      cells.push_back(signed_percent(most.without - most.with));
      cells.push_back(short_id(most.id));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

TextTable moved_table(const Ablation& ablation) {
  constexpr std::size_t kMostShown = 12;
  TextTable table({{"row"}, {"error %", kRight}, {"without " + ablation.term, kRight}});
  for (std::size_t i = 0; i < std::min(kMostShown, ablation.moved.size()); ++i) {
    const Ablation::Row& row = ablation.moved[i];
    table.add_row({short_id(row.id), signed_percent(row.with), signed_percent(row.without)});
  }
  return table;
}

}  // namespace headway
