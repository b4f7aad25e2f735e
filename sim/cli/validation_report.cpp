#include "sim/cli/validation_report.h"

#include <fmt/format.h>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/cli/json_output.h"

namespace headway {
namespace {

using Align = TextTable::Align;

std::string percent(double fraction) { return fmt::format("{:.1f} %", 100.0 * fraction); }
std::string signed_percent(double fraction) { return fmt::format("{:+.1f} %", 100.0 * fraction); }

TextTable row_table(const Validation& validation) {
  TextTable table({{"row"},
                   {"GPUs", Align::right},
                   {"published", Align::right},
                   {"predicted", Align::right},
                   {"error", Align::right},
                   {"refused"}});
  for (const ValidationRow& row : validation.rows) {
    const bool is_predicted = row.predicted_s.has_value();
    table.add_row({printable(row.id), grouped_digits(row.accelerators),
                   short_text(Seconds(row.published_s)),
                   is_predicted ? short_text(Seconds(*row.predicted_s)) : "",
                   is_predicted ? signed_percent(row.error()) : "", printable(row.refused)});
  }
  return table;
}

TextTable summary_table(const Validation& validation) {
  TextTable table({{"|error| over"},
                   {"rows", Align::right},
                   {"refused", Align::right},
                   {"mean", Align::right},
                   {"median", Align::right},
                   {"p90", Align::right},
                   {"worst", Align::right},
                   {"bias", Align::right},
                   {"inside the interval", Align::right}});
  for (const ValidationSummary& group : validation.summary) {
    std::vector<std::string> cells = {printable(group.group), grouped_digits(group.rows),
                                      grouped_digits(group.refused)};
    if (group.rows > 0) {
      for (const double error : {group.mean, group.median, group.p90, group.worst}) {
        cells.push_back(percent(error));
      }
      cells.push_back(signed_percent(group.bias));
      cells.push_back(fmt::format("{:.0f} %", 100.0 * group.covered));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

nlohmann::json row_json(const ValidationRow& row) {
  nlohmann::json json = {{"id", row.id},
                         {"source", row.source},
                         {"framework", row.framework},
                         {"gpu", row.accelerator},
                         {"precision", row.precision},
                         {"gpus", row.accelerators},
                         {"published_s", json_number(row.published_s)},
                         {"assumed", row.assumed}};
  if (row.predicted_s) {
    json["predicted_s"] = json_number(*row.predicted_s);
    json["interval_s"] = {json_number(row.interval_s.low), json_number(row.interval_s.high)};
    json["error"] = json_number(row.error());
  } else {
    json["refused"] = row.refused;
  }
  return json;
}

nlohmann::json group_json(const ValidationSummary& group) {
  nlohmann::json json = {{"group", group.group}, {"rows", group.rows}, {"refused", group.refused}};
  const auto set = [&](const char* key, double value) {
    json[key] = group.rows > 0 ? json_number(value) : nlohmann::json();
  };
  set("mean_absolute_error", group.mean);
  set("median_absolute_error", group.median);
  set("p90_absolute_error", group.p90);
  set("worst_absolute_error", group.worst);
  set("bias", group.bias);
  set("share_inside_interval", group.covered);
  return json;
}

}  // namespace

std::string validation_text(const Validation& validation) {
  return row_table(validation).text() + "\n" + summary_table(validation).text();
}

std::string validation_markdown(const Validation& validation) {
  return "# Predictions against published training steps\n\n" +
         summary_table(validation).markdown() + "\n" + row_table(validation).markdown();
}

nlohmann::json validation_json(const Validation& validation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ValidationRow& row : validation.rows) rows.push_back(row_json(row));
  nlohmann::json summary = nlohmann::json::array();
  for (const ValidationSummary& group : validation.summary) summary.push_back(group_json(group));
  return {{"schema", "headway/validation/1"}, {"rows", rows}, {"summary", summary}};
}

}  // namespace headway
