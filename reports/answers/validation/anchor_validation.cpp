#include "sim/validate/anchor_validation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/answers/answers.h"
#include "reports/answers/validation/validation_report.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string of_hundred(double share) { return fmt::format("{:.0f}", 100.0 * share); }

TextTable anchor_table(const AnchorValidation& validation, std::string_view property) {
  TextTable table({{std::string(property)},
                   {"rows", kRight},
                   {"pairs", kRight},
                   {"without: mean", kRight},
                   {"median", kRight},
                   {"inside", kRight},
                   {"with: mean", kRight},
                   {"median", kRight},
                   {"inside", kRight}});
  for (const AnchorSummary& group : validation.summary) {
    if (group.by != property) continue;
    table.add_row({group.group, grouped_digits(group.with.count), grouped_digits(group.pairs),
                   percent(group.without.mean), percent(group.without.median),
                   of_hundred(group.without.covered), percent(group.with.mean),
                   percent(group.with.median), of_hundred(group.with.covered)});
  }
  return table;
}

Document anchors_document(const AnchorValidation& validation) {
  Document document{.title = "What one measured step is worth"};
  const AnchorSummary& all = validation.summary.front();
  if (all.pairs == 0) {
    document.sections = {
        {"", {Paragraph{"No two rows are of one source, model and accelerator."}}}};
    return document;
  }
  std::string known =
      validation.left_out_source
          ? "Constants have seen no row of a row's source."
          : "Rows are predicted as users' jobs are, without what only their source has.";
  if (validation.left_out_choices) {
    known += " Of how they ran preset, degrees, batches, precision and task count only.";
  }
  document.sections = {
      {"Rows of one source, model and accelerator: one measured, another predicted",
       {anchor_table(validation, ""), anchor_table(validation, "kind"),
        anchor_table(validation, "source"),
        Paragraph{
            "Absolute errors in %, and how many published times of 100 lie in the interval. "
            "Each row counts once, with the mean over the rows that may have been measured. " +
            known},
        Paragraph{fmt::format("One measured step brings the mean error from {} to {} %, the median "
                              "from {} to {} %.",
                              percent(all.without.mean), percent(all.with.mean),
                              percent(all.without.median), percent(all.with.median))}}}};
  return document;
}

nlohmann::json errors_json(const ErrorStatistics& errors) {
  return {{"mean_absolute_error", errors.mean},
          {"median_absolute_error", errors.median},
          {"share_inside_interval", errors.covered}};
}

nlohmann::json anchored_row_json(const AnchorValidation& validation, const AnchoredRow& row) {
  nlohmann::json object = {{"id", row.head.id},           {"group", row.head.group},
                           {"kind", row.head.kind},       {"source", row.head.source},
                           {"gpu", row.head.accelerator}, {"published_s", row.head.published_s}};
  if (!row.head.predicted_s) {
    object["refused"] = row.head.refused;
    return object;
  }
  object["model"] = row.traits.model;
  object["kernels"] = row.traits.kernels;
  object["release"] = row.traits.release;
  object["pipeline"] = row.traits.pipeline;
  object["micro_batch"] = row.traits.micro_batch;
  object["exchange_of_experts"] = row.traits.exchange;
  object["predicted_s"] = *row.head.predicted_s;
  object["interval_s"] = {row.head.interval_s.low, row.head.interval_s.high};
  object["software_factor"] =
      row.software_factor ? nlohmann::json(*row.software_factor) : nlohmann::json();
  object["by_anchor"] = nlohmann::json::array();
  for (const PredictionByAnchor& one : row.by_anchor) {
    object["by_anchor"].push_back({{"measured", validation.rows[one.measured].head.id},
                                   {"shared", one.shared},
                                   {"predicted_s", one.predicted_s},
                                   {"interval_s", {one.interval_s.low, one.interval_s.high}}});
  }
  return object;
}

nlohmann::json anchors_json(const AnchorValidation& validation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const AnchoredRow& row : validation.rows) {
    rows.push_back(anchored_row_json(validation, row));
  }
  nlohmann::json summary = nlohmann::json::array();
  for (const AnchorSummary& group : validation.summary) {
    summary.push_back({{"by", group.by.empty() ? nlohmann::json() : nlohmann::json(group.by)},
                       {"group", group.group},
                       {"rows", group.with.count},
                       {"pairs", group.pairs},
                       {"without", errors_json(group.without)},
                       {"with", errors_json(group.with)}});
  }
  return {{"schema", "headway/anchor-validation/1"},
          {"left_out", left_out_json(validation.left_out_source, validation.left_out_choices)},
          {"rows", rows},
          {"summary", summary}};
}

/// A pair a record.
nlohmann::json anchor_records(const AnchorValidation& validation) {
  nlohmann::json list = nlohmann::json::array();
  for (const AnchoredRow& row : validation.rows) {
    const nlohmann::json object = anchored_row_json(validation, row);
    if (!object.contains("by_anchor")) continue;
    for (nlohmann::json pair : object.at("by_anchor")) {
      pair["asked"] = row.head.id;
      pair["source"] = row.head.source;
      pair["published_s"] = row.head.published_s;
      pair["without_s"] = *row.head.predicted_s;
      list.push_back(std::move(pair));
    }
  }
  return list;
}

}  // namespace

Answer anchor_validation_answer(const AnchorValidation& validation) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(anchors_document(validation), screen.columns, 0);
              },
          .document = [&] { return anchors_document(validation); },
          .json = [&] { return json_document_text(anchors_json(validation)); },
          .csv =
              [&] {
                return csv_of(
                    anchor_records(validation),
                    {"asked", "measured", "source", "shared", "published_s", "without_s",
                     "predicted_s", "predicted_p5_s=interval_s/0", "predicted_p95_s=interval_s/1"});
              }};
}

}  // namespace headway
