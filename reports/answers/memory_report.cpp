#include "reports/answers/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

using Align = TextTable::Align;

std::string share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "";
  return fmt::format("{:.1f}", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// The jobs judged wrong, the most clearly wrong first.
std::vector<const MemoryRow*> wrong_rows(const MemoryValidation& validation) {
  std::vector<const MemoryRow*> rows;
  for (const MemoryRow& row : validation.rows) {
    if (row.needed && !row.is_right()) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, std::greater(), [](const MemoryRow* row) {
    return std::abs(std::log(*row->needed / row->capacity));
  });
  return rows;
}

nlohmann::json row_json(const MemoryRow& row) {
  nlohmann::json json = {
      {"id", row.head.id},           {"framework", row.head.framework}, {"source", row.head.source},
      {"gpu", row.head.accelerator}, {"gpus", row.head.accelerators},   {"ran", row.ran}};
  if (!row.needed) {
    json["refused"] = row.refused;
    return json;
  }
  json["needed_bytes"] = row.needed->count();
  json["capacity_bytes"] = row.capacity.count();
  json["right"] = row.is_right();
  return json;
}

}  // namespace

TextTable memory_table(const MemoryValidation& validation, std::string_view property) {
  TextTable table({{std::string(property)},
                   {"ran", Align::right},
                   {"said to fit", Align::right},
                   {"%", Align::right},
                   {"ran out", Align::right},
                   {"said not to", Align::right},
                   {"%", Align::right},
                   {"not told", Align::right}});
  for (const MemorySummary& group : validation.summary) {
    if (group.by != property) continue;
    table.add_row({printable(group.group), grouped_digits(group.ran),
                   grouped_digits(group.accepted), share(group.accepted, group.ran),
                   grouped_digits(group.failed), grouped_digits(group.rejected),
                   share(group.rejected, group.failed), grouped_digits(group.refused)});
  }
  return table;
}

std::string memory_text(const MemoryValidation& validation) {
  constexpr std::size_t kMostShown = 20;
  std::string text = "Published jobs that ran, and that ran out of memory:\n\n" +
                     memory_table(validation, "").text();
  for (const char* property : {"framework", "gpu"}) {
    text += "\n" + memory_table(validation, property).text();
  }
  const std::vector<const MemoryRow*> wrong = wrong_rows(validation);
  if (wrong.empty()) return text;
  TextTable table({{"judged wrong"},
                   {"GPUs", Align::right},
                   {"", Align::left},
                   {"needed", Align::right},
                   {"capacity", Align::right}});
  for (std::size_t i = 0; i < std::min(kMostShown, wrong.size()); ++i) {
    const MemoryRow& row = *wrong[i];
    table.add_row({printable(row.head.id), grouped_digits(row.head.accelerators),
                   row.ran ? "ran" : "ran out", short_text(*row.needed), short_text(row.capacity)});
  }
  text += "\n" + table.text();
  if (wrong.size() > kMostShown) {
    text += fmt::format("{} more (--json has all)\n", wrong.size() - kMostShown);
  }
  return text;
}

nlohmann::json memory_json(const MemoryValidation& validation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const MemoryRow& row : validation.rows) rows.push_back(row_json(row));
  nlohmann::json summary = nlohmann::json::array();
  for (const MemorySummary& group : validation.summary) {
    summary.push_back({{"by", group.by.empty() ? nlohmann::json() : nlohmann::json(group.by)},
                       {"group", group.group},
                       {"ran", group.ran},
                       {"accepted", group.accepted},
                       {"ran_out_of_memory", group.failed},
                       {"rejected", group.rejected},
                       {"refused", group.refused}});
  }
  return {{"schema", "headway/memory-validation/1"}, {"rows", rows}, {"summary", summary}};
}

}  // namespace headway
