#include "sim/predict/collective/collective_validation.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

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

bool everything(const ScoredSweep&) { return true; }

/// A line of all sweeps, then one of each kind of collective.
TextTable class_table(const CollectiveValidation& validation) {
  TextTable table(
      {{"message size"}, {"points", kRight}, {"median error %", kRight}, {"bias %", kRight}});
  for (const SizeClass size : kSizeClasses) {
    const PointErrors errors = point_errors(validation, size, everything);
    table.add_row({std::string(class_name(size)), fmt::format("{}", errors.count),
                   percent(errors.median), signed_percent(errors.bias)});
  }
  return table;
}

TextTable sweep_table(const CollectiveValidation& validation) {
  std::vector<TextTable::Column> columns = {
      {"sweep"}, {"collective"}, {"ranks", kRight}, {"nodes", kRight}, {"topology"}};
  for (const SizeClass size : kSizeClasses) {
    columns.push_back({std::string(class_name(size)), kRight});
    columns.push_back({"bias", kRight});
  }
  TextTable table(std::move(columns));
  for (const ScoredSweep& sweep : validation.sweeps) {
    std::vector<std::string> cells = {
        sweep.sweep.id, std::string(collective_name(sweep.sweep.kind)),
        fmt::format("{}", sweep.ranks), fmt::format("{}", sweep.sweep.nodes), sweep.cluster};
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

nlohmann::json told(const ScoredPoint& point, double number) {
  return point.predicted.doubt == nullptr ? json_number(number) : nlohmann::json();
}

nlohmann::json sweep_json(const CollectiveValidation& validation, const ScoredSweep& scored) {
  nlohmann::json points = nlohmann::json::array();
  for (const ScoredPoint& point : scored.points) {
    points.push_back({{"size_bytes", json_number(point.predicted.size.count())},
                      {"published_s", json_number(point.published.count())},
                      {"predicted_s", told(point, point.predicted.time.count())},
                      {"algorithm", point.predicted.algorithm.name},
                      {"protocol", point.predicted.protocol},
                      {"error", told(point, point.error())},
                      {"refused", point.predicted.doubt == nullptr
                                      ? nlohmann::json()
                                      : nlohmann::json(point.predicted.doubt->because)}});
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

/// Points of sweeps that are predicted, at sizes of which nobody can tell.
TextTable refusal_table(const CollectiveValidation& validation) {
  struct Refused {
    int points = 0;
    Bytes least{std::numeric_limits<double>::infinity()};
    Bytes most;
  };
  std::map<std::string_view, Refused> reasons;
  for (const ScoredSweep& sweep : validation.sweeps) {
    for (const ScoredPoint& point : sweep.points) {
      if (point.predicted.doubt == nullptr) continue;
      Refused& refused = reasons[point.predicted.doubt->because];
      ++refused.points;
      refused.least = min(refused.least, point.predicted.size);
      refused.most = max(refused.most, point.predicted.size);
    }
  }
  TextTable table({{"points", kRight}, {"from", kRight}, {"to", kRight}, {"because"}});
  for (const auto& [reason, refused] : reasons) {
    table.add_row({fmt::format("{}", refused.points), short_text(refused.least),
                   short_text(refused.most), std::string(reason)});
  }
  return table;
}

TextTable reason_table(const CollectiveValidation& validation) {
  std::map<std::string, int> reasons;
  for (const UnscoredSweep& sweep : validation.unscored) ++reasons[sweep.reason];
  TextTable table({{"not predicted", kRight}, {"because"}});
  for (const auto& [reason, count] : reasons) table.add_row({fmt::format("{}", count), reason});
  return table;
}

Document collective_validation_document(const CollectiveValidation& validation) {
  Document document{
      .title = fmt::format("{} published sweeps over several nodes, simulated with NCCL's costs",
                           validation.sweeps.size())};
  document.sections = {
      {"By message size", {class_table(validation)}},
      {"By sweep", {Paragraph{"Median absolute error and bias, %"}, sweep_table(validation)}}};
  document.sections.push_back({"Sizes that are refused", {refusal_table(validation)}});
  if (validation.unscored.empty()) return document;
  document.sections.push_back({"Not predicted", {reason_table(validation)}});
  document.sections.push_back({"", {Paragraph{"--json names each of them"}}, Shown::on_terminals});
  return document;
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

/// A row a point, with what it is a point of.
std::string collective_validation_csv(const CollectiveValidation& validation) {
  nlohmann::json records = nlohmann::json::array();
  for (const ScoredSweep& sweep : validation.sweeps) {
    nlohmann::json of = sweep_json(validation, sweep);
    const nlohmann::json points = std::move(of["points"]);
    for (const nlohmann::json& point : points) {
      records.push_back(of);
      records.back().update(point);
    }
  }
  return csv_of(records,
                {"id", "source", "op", "topology", "nodes", "ranks", "size_bytes", "published_s",
                 "predicted_s", "algorithm", "protocol", "error", "refused"});
}

}  // namespace

Answer collective_validation_answer(const CollectiveValidation& validation) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(collective_validation_document(validation), screen.columns, 0);
              },
          .document = [&] { return collective_validation_document(validation); },
          .json = [&] { return json_document_text(collective_validation_json(validation)); },
          .csv = [&] { return collective_validation_csv(validation); }};
}

}  // namespace headway
