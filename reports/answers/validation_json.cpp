#include <nlohmann/json.hpp>

#include "reports/answers/validation_report.h"
#include "sim/files/json_output.h"

namespace headway {
namespace {

nlohmann::json row_json(const ValidationRow& row) {
  nlohmann::json json = {{"id", row.id},
                         {"group", row.group},
                         {"kind", row.kind},
                         {"source", row.source},
                         {"framework", row.framework},
                         {"gpu", row.accelerator},
                         {"precision", row.precision},
                         {"gpus", row.accelerators},
                         {"published_s", json_number(row.published_s)},
                         {"defaults_used", row.defaults_used},
                         {"assumed", row.assumed}};
  if (!row.source_title.empty()) json["source_title"] = row.source_title;
  if (!row.source_address.empty()) json["source_address"] = row.source_address;
  if (!row.source_place.empty()) json["source_place"] = row.source_place;
  if (row.predicted_s) {
    json["predicted_s"] = json_number(*row.predicted_s);
    json["interval_s"] = {json_number(row.interval_s.low), json_number(row.interval_s.high)};
    json["error"] = json_number(row.error());
  } else {
    json["refused"] = row.refused;
  }
  return json;
}

nlohmann::json statistics_json(const ErrorStatistics& errors) {
  nlohmann::json json;
  const auto set = [&](const char* key, double value) {
    json[key] = errors.count > 0 ? json_number(value) : nlohmann::json();
  };
  set("mean_absolute_error", errors.mean);
  set("median_absolute_error", errors.median);
  set("p90_absolute_error", errors.p90);
  set("worst_absolute_error", errors.worst);
  set("bias", errors.bias);
  set("share_inside_interval", errors.covered);
  return json;
}

nlohmann::json summary_json(const ValidationSummary& summary) {
  nlohmann::json json = statistics_json(summary.rows);
  json["by"] = summary.by.empty() ? nlohmann::json() : nlohmann::json(summary.by);
  json["group"] = summary.group;
  json["rows"] = summary.rows.count;
  json["refused"] = summary.refused;
  json["group_balanced"] = statistics_json(summary.groups);
  json["group_balanced"]["groups"] = summary.groups.count;
  return json;
}

nlohmann::json ablation_json(const Ablation& ablation) {
  nlohmann::json moved = nlohmann::json::array();
  for (const Ablation::Row& row : ablation.moved) {
    moved.push_back({{"id", row.id},
                     {"error", json_number(row.with)},
                     {"error_without", json_number(row.without)}});
  }
  nlohmann::json json = statistics_json(ablation.without);
  json["term"] = ablation.term;
  json["moved"] = std::move(moved);
  return json;
}

}  // namespace

nlohmann::json validation_json(const Validation& validation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ValidationRow& row : validation.rows) rows.push_back(row_json(row));
  nlohmann::json summary = nlohmann::json::array();
  for (const ValidationSummary& group : validation.summary) summary.push_back(summary_json(group));
  nlohmann::json json = {{"schema", "headway/validation/1"}, {"rows", rows}, {"summary", summary}};
  for (const Ablation& ablation : validation.ablations) {
    json["ablations"].push_back(ablation_json(ablation));
  }
  return json;
}

}  // namespace headway
