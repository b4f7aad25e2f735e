#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/answers/answers.h"
#include "reports/answers/validation/validation_report.h"
#include "reports/answers/validation/validation_tables.h"
#include "reports/document/csv_text.h"
#include "reports/document/scatter_figure.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::string_view kPageTitle = "Predictions against published training steps";

/// What readers of the errors have to know is left out.
constexpr std::array<std::string_view, 6> kNotModelled = {
    "Congestion: every row is taken to have a non-blocking fabric to itself; no source says "
    "otherwise.",
    "Reading training data, checkpoints, failures, and the first steps before clocks and "
    "allocators settle.",
    "Compute slowed down by communication kernels that run at the same time, beyond the shares of "
    "traffic that never hide.",
    "Power and temperature: what clocks a device sustains stands in its efficiencies, on average.",
    "Differences between releases of one software, unless the profile has a factor for them: they "
    "show as error here.",
    "What a row does not say. Its defaults are listed with it (\"assumed\" and \"defaults_used\" "
    "of --json)."};

DocumentSection answer(const Validation& validation) {
  const ValidationSummary& all = validation.summary.front();
  const auto rows = static_cast<std::int64_t>(validation.rows.size());
  std::string text =
      validation.left_out_source
          ? "Out of sample: every row is predicted with constants that were fitted without any row "
            "of its source. "
          : "In sample, where these are the steps that `headway validate` predicts unasked: the "
            "constants were fitted over those; `headway validate --leave-out source` predicts each "
            "without its source. ";
  if (validation.left_out_choices) {
    text =
        "Rows are predicted as jobs of users who say preset, degrees, batches, precision and task "
        "only, and who have nothing that only their source has. ";
    if (validation.left_out_source) text += "Constants have seen no row of a row's source. ";
  }
  text +=
      fmt::format("{} published steps; {} of them predicted, {} refused. ", grouped_digits(rows),
                  grouped_digits(all.rows.count), grouped_digits(all.refused));
  if (all.rows.count > 0) {
    text += fmt::format(
        "The mean absolute error is {} % (median {} %, worst {} %, bias {} %), and {:.0f} % of the "
        "published times lie inside the interval that was predicted for 90 %. Where near-identical "
        "configurations count once ({} groups), the mean is {} %.",
        percent(all.rows.mean), percent(all.rows.median), percent(all.rows.worst),
        signed_percent(all.rows.bias), 100.0 * all.rows.covered, grouped_digits(all.groups.count),
        percent(all.groups.mean));
  }
  return {"Answer", {Paragraph{text}}};
}

DocumentSection errors(const Validation& validation) {
  DocumentSection section{
      "Errors by group",
      {Paragraph{
           "Absolute errors in %, predicted over published time of a step. The first columns count "
           "each row once: mean, median, 90th percentile, worst, bias (mean of the signed error), "
           "and the share of published times inside the predicted interval. The last columns count "
           "each group of near-identical rows once, with the means over its rows."},
       summary_table(validation, "")}};
  for (const RowProperty& property : row_properties()) {
    section.blocks.emplace_back(summary_table(validation, property.name));
  }
  return section;
}

DocumentSection sources(const Validation& validation) {
  TextTable table({{"source"}, {"title"}, {"rows", TextTable::Align::right}, {"first at"}});
  std::map<std::string, std::int64_t> counts;
  std::map<std::string, const ValidationRow*> first;
  for (const ValidationRow& row : validation.rows) {
    ++counts[row.source];
    first.try_emplace(row.source, &row);
  }
  for (const auto& [source, row] : first) {
    table.add_row({source, row->source_title, grouped_digits(counts[source]), row->source_address});
  }
  return {"Where the numbers were published", {table}};
}

DocumentSection ablations(const Validation& validation) {
  return {"What each term of the cost model is worth",
          {Paragraph{"Everything predicted once more without one term, nothing fitted again."},
           ablation_table(validation)}};
}

std::vector<DocumentSection> sections_below_the_figure(const Validation& validation) {
  std::vector<DocumentSection> sections{errors(validation)};
  if (!validation.ablations.empty()) sections.push_back(ablations(validation));
  if (validation.summary.front().refused > 0) {
    sections.push_back({"What is refused, and why", {refusal_table(validation)}});
  }
  sections.push_back(
      {"What is not modelled", {BulletList{{kNotModelled.begin(), kNotModelled.end()}}}});
  sections.push_back(sources(validation));
  sections.push_back(
      {"How to make this page again",
       {Code{.text = fmt::format("headway validate{}{} -o validation.md -o validation.html",
                                 validation.left_out_choices ? " --leave-out choices" : "",
                                 validation.left_out_source ? " --leave-out source" : ""),
             .language = "sh"},
        Paragraph{"--json prints every row with its prediction, its interval and what was "
                  "assumed. The rows stand in scenarios/validation/published_steps.json."}}});
  return sections;
}

/// Kinds as series; fine-tuning of either sort is one.
Drawing figure_of(const Validation& validation) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> kinds = {
      {"dense", {"dense"}}, {"mixture of experts", {"moe"}}, {"fine-tuning", {"lora", "sft"}}};
  ScatterFigure figure;
  figure.title = "Predicted over published time of a training step";
  figure.x_title = "published time of a step, s";
  figure.y_title = "predicted, s";
  for (const auto& [name, words] : kinds) {
    ScatterFigure::Series series{name, {}};
    for (const ValidationRow& row : validation.rows) {
      if (!row.predicted_s || std::ranges::find(words, row.kind) == words.end()) continue;
      series.points.push_back(
          {row.published_s, *row.predicted_s,
           fmt::format("{}: published {}, predicted {} ({} %)", row.id,
                       short_text(Seconds(row.published_s)), short_text(Seconds(*row.predicted_s)),
                       signed_percent(row.error()))});
    }
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  return {svg_of(figure)};
}

Document document_of(const Validation& validation) {
  Document document{.title = std::string(kPageTitle), .sections = {answer(validation)}};
  document.sections.back().blocks.emplace_back(
      Figure{.title = "Predicted over published time of a training step",
             .caption = "Each mark is a published step. On the line the prediction is the "
                        "measurement; inside the band it is within 10 %.",
             .picture = figure_of(validation),
             .table = summary_table(validation, "kind")});
  for (DocumentSection& section : sections_below_the_figure(validation)) {
    document.sections.push_back(std::move(section));
  }
  return document;
}

}  // namespace

Answer validation_answer(const Validation& validation) {
  return {.text = [&](const Screen& screen) { return validation_text(validation, screen.columns); },
          .document = [&] { return document_of(validation); },
          .json = [&] { return json_document_text(validation_json(validation)); },
          .csv =
              [&] {
                return csv_of(validation_json(validation).at("rows"),
                              {"id", "group", "kind", "source", "framework", "gpu", "precision",
                               "gpus", "published_s", "predicted_s", "predicted_p5_s=interval_s/0",
                               "predicted_p95_s=interval_s/1", "error", "refused"});
              }};
}

}  // namespace headway
