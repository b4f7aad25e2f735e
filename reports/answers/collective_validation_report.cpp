#include "reports/answers/collective_validation_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/files/json_output.h"

namespace headway {
namespace {

using Align = TextTable::Align;

std::string_view class_name(SizeClass size) {
  switch (size) {
    case SizeClass::latency_bound:
      return "up to 64 KiB";
    case SizeClass::between:
      return "between";
    case SizeClass::bandwidth_bound:
      return "from 16 MiB";
  }
  HEADWAY_CHECK(false, "unknown size class");
}

std::string percent(double share) { return fmt::format("{:.1f}", 100.0 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f}", 100.0 * share); }

bool everything(const ScoredSweep&) { return true; }

/// A line of all sweeps, then one of each kind of collective.
TextTable class_table(const CollectiveValidation& validation) {
  TextTable table({{"message size"},
                   {"points", Align::right},
                   {"median error %", Align::right},
                   {"bias %", Align::right}});
  for (const SizeClass size : kSizeClasses) {
    const PointErrors errors = point_errors(validation, size, everything);
    table.add_row({std::string(class_name(size)), fmt::format("{}", errors.count),
                   percent(errors.median), signed_percent(errors.bias)});
  }
  return table;
}

TextTable sweep_table(const CollectiveValidation& validation) {
  std::vector<TextTable::Column> columns = {
      {"sweep"}, {"collective"}, {"ranks", Align::right}, {"nodes", Align::right}, {"topology"}};
  for (const SizeClass size : kSizeClasses) {
    columns.push_back({std::string(class_name(size)), Align::right});
    columns.push_back({"bias", Align::right});
  }
  TextTable table(std::move(columns));
  for (const ScoredSweep& sweep : validation.sweeps) {
    std::vector<std::string> cells = {
        printable(sweep.sweep.id), std::string(collective_name(sweep.sweep.kind)),
        fmt::format("{}", sweep.ranks), fmt::format("{}", sweep.sweep.nodes),
        printable(sweep.cluster)};
    for (const SizeClass size : kSizeClasses) {
      const PointErrors errors = point_errors(
          validation, size, [&](const ScoredSweep& other) { return &other == &sweep; });
      cells.push_back(errors.count == 0 ? "" : percent(errors.median));
      cells.push_back(errors.count == 0 ? "" : signed_percent(errors.bias));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

nlohmann::json errors_json(const CollectiveValidation& validation,
                           const std::function<bool(const ScoredSweep&)>& is_counted) {
  nlohmann::json list = nlohmann::json::array();
  for (const SizeClass size : kSizeClasses) {
    const PointErrors errors = point_errors(validation, size, is_counted);
    list.push_back({{"message_size", class_name(size)},
                    {"points", errors.count},
                    {"median_absolute_error", json_number(errors.median)},
                    {"median_error", json_number(errors.bias)}});
  }
  return list;
}

nlohmann::json sweep_json(const CollectiveValidation& validation, const ScoredSweep& scored) {
  nlohmann::json points = nlohmann::json::array();
  for (const ScoredPoint& point : scored.points) {
    points.push_back({{"size_bytes", json_number(point.predicted.size.count())},
                      {"published_s", json_number(point.published.count())},
                      {"predicted_s", json_number(point.predicted.time.count())},
                      {"algorithm", algorithm_name(point.predicted.algorithm)},
                      {"protocol", point.predicted.protocol},
                      {"error", json_number(point.error())}});
  }
  return {{"id", scored.sweep.id},
          {"source", scored.sweep.source},
          {"stated", scored.sweep.stated},
          {"op", collective_name(scored.sweep.kind)},
          {"topology", scored.sweep.topology},
          {"nodes", scored.sweep.nodes},
          {"ranks", scored.ranks},
          {"summary",
           errors_json(validation, [&](const ScoredSweep& other) { return &other == &scored; })},
          {"points", std::move(points)}};
}

}  // namespace

std::string collective_validation_text(const CollectiveValidation& validation) {
  std::string text = fmt::format(
      "{} published sweeps over several nodes, simulated with NCCL's costs; no constant is fitted "
      "to them\n\n",
      validation.sweeps.size());
  text += class_table(validation).text() + "\nMedian absolute error and bias, %\n" +
          sweep_table(validation).text();
  std::map<std::string, int> reasons;
  for (const UnscoredSweep& sweep : validation.unscored) ++reasons[sweep.reason];
  if (reasons.empty()) return text;
  TextTable table({{"not predicted", Align::right}, {"because"}});
  for (const auto& [reason, count] : reasons) {
    table.add_row({fmt::format("{}", count), printable(reason)});
  }
  return text + "\n" + table.text() + "--json names each of them\n";
}

nlohmann::json collective_validation_json(const CollectiveValidation& validation) {
  nlohmann::json sweeps = nlohmann::json::array();
  for (const ScoredSweep& sweep : validation.sweeps) {
    sweeps.push_back(sweep_json(validation, sweep));
  }
  nlohmann::json unscored = nlohmann::json::array();
  for (const UnscoredSweep& sweep : validation.unscored) {
    unscored.push_back({{"id", sweep.id}, {"source", sweep.source}, {"reason", sweep.reason}});
  }
  return {{"schema", "headway/collective-validation/1"},
          {"summary", errors_json(validation, everything)},
          {"sweeps", std::move(sweeps)},
          {"unscored", std::move(unscored)}};
}

}  // namespace headway
