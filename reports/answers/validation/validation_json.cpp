#include <nlohmann/json.hpp>

#include "reports/answers/validation/validation_report.h"
#include "sim/files/json_output.h"

namespace headway {
namespace {

nlohmann::json row_json(const ValidationRow& row) {
  nlohmann::json object = {{"id", row.id},
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
  if (!row.source_title.empty()) object["source_title"] = row.source_title;
  if (!row.source_address.empty()) object["source_address"] = row.source_address;
  if (!row.source_place.empty()) object["source_place"] = row.source_place;
  if (row.predicted_s) {
    object["predicted_s"] = json_number(*row.predicted_s);
    object["interval_s"] = {json_number(row.interval_s.low), json_number(row.interval_s.high)};
    object["error"] = json_number(row.error());
  } else {
    object["refused"] = row.refused;
  }
  return object;
}

nlohmann::json statistics_json(const ErrorStatistics& errors) {
  nlohmann::json object;
  const auto set = [&](const char* key, double value) {
    object[key] = errors.count > 0 ? json_number(value) : nlohmann::json();
  };
  set("mean_absolute_error", errors.mean);
  set("median_absolute_error", errors.median);
  set("p90_absolute_error", errors.p90);
  set("worst_absolute_error", errors.worst);
  set("bias", errors.bias);
  set("share_inside_interval", errors.covered);
  return object;
}

nlohmann::json summary_json(const ValidationSummary& summary) {
  nlohmann::json object = statistics_json(summary.rows);
  object["by"] = summary.by.empty() ? nlohmann::json() : nlohmann::json(summary.by);
  object["group"] = summary.group;
  object["rows"] = summary.rows.count;
  object["refused"] = summary.refused;
  object["group_balanced"] = statistics_json(summary.groups);
  object["group_balanced"]["groups"] = summary.groups.count;
  return object;
}

nlohmann::json ablation_json(const Ablation& ablation) {
  nlohmann::json moved = nlohmann::json::array();
  for (const Ablation::Row& row : ablation.moved) {
    moved.push_back({{"id", row.id},
                     {"error", json_number(row.with)},
                     {"error_without", json_number(row.without)}});
  }
  nlohmann::json object = statistics_json(ablation.without);
  object["term"] = ablation.term;
  object["moved"] = std::move(moved);
  return object;
}

}  // namespace

nlohmann::json left_out_json(bool source, bool choices) {
  if (source && choices) return "source, choices";
  if (source) return "source";
  return choices ? nlohmann::json("choices") : nlohmann::json();
}

nlohmann::json validation_json(const Validation& validation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const ValidationRow& row : validation.rows) rows.push_back(row_json(row));
  nlohmann::json summary = nlohmann::json::array();
  for (const ValidationSummary& group : validation.summary) summary.push_back(summary_json(group));
  nlohmann::json object = {
      {"schema", "headway/validation/1"},
      {"left_out", left_out_json(validation.left_out_source, validation.left_out_choices)},
      {"rows", rows},
      {"summary", summary}};
  for (const Ablation& ablation : validation.ablations) {
    object["ablations"].push_back(ablation_json(ablation));
  }
  return object;
}

}  // namespace headway
