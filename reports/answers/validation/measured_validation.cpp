#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"
#include "sim/validate/measured/measured_comparison.h"

namespace headway {
namespace {

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); }
std::string with_sign(double share) { return percent(share) + " %"; }

TextTable step_table(const MeasuredComparison& comparison) {
  TextTable table({{"step"},
                   {"ranks", kRight},
                   {"measured ms", kRight},
                   {"+-", kRight},
                   {"predicted ms", kRight},
                   {"error", kRight},
                   {"contaminated", kRight}});
  for (const MeasuredComparison::Row& row : comparison.rows) {
    const MeasuredStep& measured = row.measured;
    table.add_row({measured.step.id, fmt::format("{}", measured.ranks),
                   milliseconds(measured.time_s), with_sign(measured.spread),
                   milliseconds(row.predicted_s), signed_percent(row.error()) + " %",
                   with_sign(measured.contaminated)});
  }
  return table;
}

std::string verdict_text(const MeasuredComparison& comparison) {
  const std::string drift =
      comparison.profiles_difference
          ? "; calibrations differ by " + with_sign(*comparison.profiles_difference)
          : "";
  return fmt::format(
      "{} rows: error median {}, p90 {}, worst {}; {} of the time contaminated{}\n"
      "verdict: {}{}",
      comparison.rows.size(), with_sign(comparison.median_error), with_sign(comparison.p90_error),
      with_sign(comparison.worst_error), with_sign(comparison.contaminated), drift,
      word_of(comparison.verdict), comparison.reason.empty() ? "" : " (" + comparison.reason + ")");
}

Document measured_document(const MeasuredComparison& comparison) {
  return {.title = "Steps that were run here, against the machine's profiles",
          .sections = {{"Answer", {Paragraph{verdict_text(comparison)}}},
                       {"Steps", {step_table(comparison)}}}};
}

nlohmann::json measured_json(const MeasuredComparison& comparison) {
  nlohmann::json rows = nlohmann::json::array();
  for (const MeasuredComparison::Row& row : comparison.rows) {
    rows.push_back({{"id", row.measured.step.id},
                    {"ranks", row.measured.ranks},
                    {"measured_s", json_number(row.measured.time_s)},
                    {"spread", json_number(row.measured.spread)},
                    {"contaminated_share", json_number(row.measured.contaminated)},
                    {"predicted_s", json_number(row.predicted_s)},
                    {"error", json_number(row.error())}});
  }
  return {{"schema", "headway/measured_validation/1"},
          {"rows", rows},
          {"summary",
           {{"median_absolute_error", json_number(comparison.median_error)},
            {"p90_absolute_error", json_number(comparison.p90_error)},
            {"worst_absolute_error", json_number(comparison.worst_error)},
            {"contaminated_share", json_number(comparison.contaminated)},
            {"calibrations_difference", comparison.profiles_difference
                                            ? json_number(*comparison.profiles_difference)
                                            : nlohmann::json()},
            {"verdict", word_of(comparison.verdict)},
            {"reason", comparison.reason}}}};
}

}  // namespace

Answer measured_validation_answer(const MeasuredComparison& comparison) {
  return {.text =
              [&](const Screen& screen) {
                return step_table(comparison).with_cells(printable).text(0, screen.columns) +
                       verdict_text(comparison) + "\n";
              },
          .document = [&] { return measured_document(comparison); },
          .json = [&] { return json_document_text(measured_json(comparison)); },
          .csv =
              [&] {
                return csv_of(measured_json(comparison).at("rows"),
                              {"id", "ranks", "measured_s", "spread", "contaminated_share",
                               "predicted_s", "error"});
              }};
}

}  // namespace headway
