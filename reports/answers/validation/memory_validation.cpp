#include "sim/validate/memory_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string percent_of(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "";
  return percent(static_cast<double>(part) / static_cast<double>(whole));
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
  nlohmann::json object = {
      {"id", row.head.id},           {"framework", row.head.framework}, {"source", row.head.source},
      {"gpu", row.head.accelerator}, {"gpus", row.head.accelerators},   {"ran", row.ran}};
  if (!row.needed) {
    object["refused"] = row.refused;
    return object;
  }
  object["needed_bytes"] = row.needed->count();
  object["capacity_bytes"] = row.capacity.count();
  object["right"] = row.is_right();
  return object;
}

/// How many published jobs that ran are said to fit, and how many that ran out of memory not to:
/// over all, or by the words of one property.
TextTable memory_table(const MemoryValidation& validation, std::string_view property) {
  TextTable table({{std::string(property)},
                   {"ran", kRight},
                   {"said to fit", kRight},
                   {"%", kRight},
                   {"ran out", kRight},
                   {"said not to", kRight},
                   {"%", kRight},
                   {"not told", kRight}});
  for (const MemorySummary& group : validation.summary) {
    if (group.by != property) continue;
    table.add_row({group.group, grouped_digits(group.ran), grouped_digits(group.accepted),
                   percent_of(group.accepted, group.ran), grouped_digits(group.failed),
                   grouped_digits(group.rejected), percent_of(group.rejected, group.failed),
                   grouped_digits(group.refused)});
  }
  return table;
}

/// What a stricter or laxer limit would tell right of both classes.
TextTable trade_off_table(const MemoryValidation& validation) {
  const MemorySummary& all = validation.summary.front();
  TextTable table({{"said to fit up to", kRight},
                   {"ran, said to fit", kRight},
                   {"ran out, said not to", kRight}});
  for (const MemoryTradeOff& at : validation.trade_off) {
    table.add_row(
        {percent(at.limit), percent_of(at.accepted, all.ran), percent_of(at.rejected, all.failed)});
  }
  return table;
}

TextTable wrong_table(const std::vector<const MemoryRow*>& wrong, std::size_t most) {
  TextTable table({{"judged wrong"},
                   {"GPUs", kRight},
                   {"what happened"},
                   {"needed", kRight},
                   {"capacity", kRight}});
  for (std::size_t i = 0; i < std::min(most, wrong.size()); ++i) {
    const MemoryRow& row = *wrong[i];
    table.add_row({row.head.id, grouped_digits(row.head.accelerators), row.ran ? "ran" : "ran out",
                   short_text(*row.needed), short_text(row.capacity)});
  }
  return table;
}

Document memory_document(const MemoryValidation& validation) {
  constexpr std::size_t kMostShown = 20;
  Document document{.title = "Published jobs that ran, and that ran out of memory"};
  document.sections.push_back({"Said to fit, and said not to",
                               {memory_table(validation, ""), memory_table(validation, "framework"),
                                memory_table(validation, "gpu")}});
  document.sections.push_back(
      {"What another limit would tell, in % of the capacity", {trade_off_table(validation)}});
  if (validation.undecidable > 0) {
    document.sections.back().blocks.emplace_back(Paragraph{
        fmt::format("{} of these jobs no limit tells apart: one that needs the same to the byte, "
                    "in the same software, went the other way.",
                    validation.undecidable)});
  }
  const std::vector<const MemoryRow*> wrong = wrong_rows(validation);
  if (wrong.empty()) return document;
  document.sections.push_back({"Judged wrong, the most clearly wrong first",
                               {wrong_table(wrong, wrong.size())},
                               Shown::on_pages});
  document.sections.push_back({"", {wrong_table(wrong, kMostShown)}, Shown::on_terminals});
  if (wrong.size() > kMostShown) {
    document.sections.back().blocks.emplace_back(
        Paragraph{fmt::format("{} more (--json has all)", wrong.size() - kMostShown)});
  }
  return document;
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
  nlohmann::json trade_off = nlohmann::json::array();
  for (const MemoryTradeOff& at : validation.trade_off) {
    trade_off.push_back(
        {{"limit", at.limit}, {"accepted", at.accepted}, {"rejected", at.rejected}});
  }
  return {{"schema", "headway/memory-validation/1"},
          {"rows", rows},
          {"summary", summary},
          {"trade_off", trade_off},
          {"undecidable", validation.undecidable}};
}

}  // namespace

Answer memory_validation_answer(const MemoryValidation& validation) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(memory_document(validation), screen.columns, 0);
              },
          .document = [&] { return memory_document(validation); },
          .json = [&] { return json_document_text(memory_json(validation)); },
          .csv =
              [&] {
                return csv_of(memory_json(validation).at("rows"),
                              {"id", "framework", "source", "gpu", "gpus", "ran", "needed_bytes",
                               "capacity_bytes", "right", "refused"});
              }};
}

}  // namespace headway
