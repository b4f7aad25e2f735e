#include "sim/validate/sync/sync_validation.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/join_words.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string hundredths(double share) { return fmt::format("{:.1f}", 100.0 * share); }

std::string errors_text(const SyncErrors& errors, double value) {
  return errors.count == 0 ? "" : hundredths(value);
}

TextTable sync_summary_table(const SyncValidation& validation) {
  TextTable table({{"kind"},
                   {"rows", kRight},
                   {"refused", kRight},
                   {"calibrating", kRight},
                   {"values", kRight},
                   {"median %", kRight},
                   {"mean %", kRight},
                   {"worst %", kRight},
                   {"shares", kRight},
                   {"median points", kRight},
                   {"worst points", kRight},
                   {"in order", kRight}});
  for (const SyncSummary& group : validation.summary) {
    table.add_row({group.kind, std::to_string(group.rows), std::to_string(group.refused),
                   std::to_string(group.calibrating), std::to_string(group.relative.count),
                   errors_text(group.relative, group.relative.median),
                   errors_text(group.relative, group.relative.mean),
                   errors_text(group.relative, group.relative.worst),
                   std::to_string(group.points.count),
                   errors_text(group.points, group.points.median),
                   errors_text(group.points, group.points.worst),
                   group.pairs == 0 ? "" : fmt::format("{} of {}", group.ordered, group.pairs)});
  }
  return table;
}

TextTable sync_rows_table(const SyncValidation& validation) {
  TextTable table(
      {{"row"}, {"what"}, {"published", kRight}, {"predicted", kRight}, {"error", kRight}, {""}});
  for (const PredictedSyncRow& row : validation.rows) {
    const std::string calibrates = row.outcome.calibrates ? "calibrates" : "";
    for (const ComparedValue& value : row.outcome.values) {
      const std::string error =
          fmt::format("{:+.1f} {}", 100.0 * value.error(), value.is_share ? "points" : "%");
      table.add_row({row.row.id, value.what, fmt::format("{:.4g}", value.published),
                     fmt::format("{:.4g}", value.predicted), error, calibrates});
    }
  }
  return table;
}

TextTable sync_refused_table(const SyncValidation& validation) {
  std::map<std::string, std::vector<std::string_view>> rows;
  for (const PredictedSyncRow& row : validation.rows) {
    if (!row.outcome.refused.empty()) rows[row.outcome.refused].push_back(row.row.id);
  }
  TextTable table({{"refused", kRight}, {"rows"}, {"because"}});
  for (const auto& [reason, ids] : rows) {
    table.add_row({std::to_string(ids.size()), join_words(ids, ", "), reason});
  }
  return table;
}

TextTable sync_assumed_table(const SyncValidation& validation) {
  TextTable table({{"row"}, {"assumed"}});
  for (const PredictedSyncRow& row : validation.rows) {
    for (const std::string& words : row.outcome.assumed) table.add_row({row.row.id, words});
  }
  return table;
}

Document sync_document(const SyncValidation& validation) {
  Document document{.title = "Published measurements of synchronisation, input and recovery"};
  document.sections.push_back({"How far off, by kind",
                               {Paragraph{"Errors are predicted / published - 1; of shares, the "
                                          "difference in points. Rows that calibrate do not count. "
                                          "In order: of pairs more than 5 % apart, those that come "
                                          "in the published order."},
                                sync_summary_table(validation)}});
  document.sections.push_back({"Values", {sync_rows_table(validation)}});
  document.sections.push_back({"Refused", {sync_refused_table(validation)}});
  document.sections.push_back(
      {"What rows do not say", {sync_assumed_table(validation)}, Shown::on_pages});
  return document;
}

nlohmann::json errors_json(const SyncErrors& errors) {
  return {{"count", errors.count},
          {"median", errors.median},
          {"mean", errors.mean},
          {"worst", errors.worst}};
}

nlohmann::json sync_json(const SyncValidation& validation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const PredictedSyncRow& row : validation.rows) {
    nlohmann::json object = {
        {"id", row.row.id}, {"kind", row.kind}, {"source", row.row.source}, {"link", row.row.link}};
    if (!row.outcome.refused.empty()) {
      object["refused"] = row.outcome.refused;
    } else {
      object["calibrates"] = row.outcome.calibrates;
      object["assumed"] = row.outcome.assumed;
      nlohmann::json values = nlohmann::json::array();
      for (const ComparedValue& value : row.outcome.values) {
        values.push_back({{"what", value.what},
                          {"published", value.published},
                          {"predicted", value.predicted},
                          {"is_share", value.is_share},
                          {"error", value.error()}});
      }
      object["values"] = values;
    }
    rows.push_back(object);
  }
  nlohmann::json summary = nlohmann::json::array();
  for (const SyncSummary& group : validation.summary) {
    summary.push_back({{"kind", group.kind},
                       {"rows", group.rows},
                       {"refused", group.refused},
                       {"calibrating", group.calibrating},
                       {"relative", errors_json(group.relative)},
                       {"points", errors_json(group.points)},
                       {"pairs", group.pairs},
                       {"in_order", group.ordered}});
  }
  return {{"schema", "headway/sync-validation/1"}, {"rows", rows}, {"summary", summary}};
}

/// A line a value.
nlohmann::json sync_lines(const SyncValidation& validation) {
  nlohmann::json lines = nlohmann::json::array();
  const nlohmann::json whole = sync_json(validation);
  for (const nlohmann::json& row : whole.at("rows")) {
    if (row.contains("refused")) {
      lines.push_back(
          {{"id", row.at("id")}, {"kind", row.at("kind")}, {"refused", row.at("refused")}});
      continue;
    }
    for (nlohmann::json value : row.at("values")) {
      value["id"] = row.at("id");
      value["kind"] = row.at("kind");
      lines.push_back(value);
    }
  }
  return lines;
}

}  // namespace

Answer sync_validation_answer(const SyncValidation& validation) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(sync_document(validation), screen.columns, 0);
              },
          .document = [&] { return sync_document(validation); },
          .json = [&] { return json_document_text(sync_json(validation)); },
          .csv =
              [&] {
                return csv_of(sync_lines(validation),
                              {"id", "kind", "what", "published", "predicted", "is_share", "error",
                               "refused"});
              }};
}

}  // namespace headway
