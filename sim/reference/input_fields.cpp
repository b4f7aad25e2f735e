#include "sim/reference/input_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/diagnostic.h"
#include "sim/files/json_text.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/strategy_fields.h"
#include "sim/models/families.h"
#include "sim/models/listed/layer_operators.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/network/read_topology.h"
#include "sim/reference/explain_tables.h"
#include "sim/scenario/read_cost.h"
#include "sim/scenario/read_input.h"
#include "sim/scenario/read_perturbations.h"
#include "sim/scenario/read_reliability.h"
#include "sim/scenario/read_run.h"
#include "sim/scenario/read_post_training.h"
#include "sim/scenario/read_statistics.h"

namespace headway {
namespace {

using nlohmann::json;

/// Where the root of each kind of file stands in a scenario.
struct SchemaRoot {
  std::string_view name;
  std::string_view place;
};
constexpr std::array<SchemaRoot, 5> kRoots = {{{"scenario", ""},
                                               {"topology", "cluster.topology"},
                                               {"node", "cluster.topology.node"},
                                               {"model", "model"},
                                               {"strategy", "strategy"}}};

/// Objects that are told elsewhere.
const std::map<std::string_view, std::string_view> kToldAt = {{"jobs.model", "model"},
                                                              {"jobs.strategy", "strategy"}};

void append_rows(std::vector<FieldDescription>& fields, const std::vector<FieldRow>& rows) {
  for (const FieldRow& row : rows) {
    const json value = is_json(row.fallback) ? parsed_json(row.fallback) : json();
    fields.push_back({std::string(row.name),
                      row.type,
                      {.about = std::string(row.about),
                       .limits = std::string(row.limits),
                       .see = std::string(row.see),
                       .fallback = std::string(row.fallback)},
                      value,
                      row.fallback == "required"});
  }
}

/// Those of a strategy, with the rules that they have to keep.
void append_strategy(std::vector<FieldDescription>& fields) {
  for (FieldDescription& field : strategy_fields().described()) {
    for (const StrategyRule& rule : strategy_rules()) {
      const bool is_told = field.notes.limits.find(rule.words) != std::string::npos;
      if (is_told || std::ranges::find(rule.fields, field.name) == rule.fields.end()) continue;
      add_limit(field.notes, rule.words);
    }
    field.name = "strategy." + field.name;
    fields.push_back(std::move(field));
  }
}

/// Those of all families of models. What several have is told once.
void append_families(std::vector<FieldDescription>& fields) {
  for (const ModelFamily& family : model_families()) {
    for (FieldDescription& field : family.fields()) {
      field.name = "model." + field.name;
      if (std::ranges::find(fields, field.name, &FieldDescription::name) != fields.end()) continue;
      field.required = false;
      fields.push_back(std::move(field));
    }
  }
}

/// Those of all operators of listed layers.
void append_operators(std::vector<FieldDescription>& fields) {
  std::vector<FieldDescription> all;
  for (const LayerOperator& one : layer_operators()) {
    for (FieldDescription& field : one.fields()) {
      if (std::ranges::find(all, field.name, &FieldDescription::name) != all.end()) continue;
      if (field.required) field.notes.fallback = "has to be given to operators that take it";
      field.required = false;
      all.push_back(std::move(field));
    }
  }
  append_fields(fields, "model.layers", all);
  append_fields(fields, "model.layers.operators", all);
}

/// Whether the field stands in the object at `place`, and not deeper.
bool is_child(std::string_view name, std::string_view place) {
  if (!place.empty()) {
    if (!name.starts_with(place) || name.size() == place.size() || name[place.size()] != '.') {
      return false;
    }
    name.remove_prefix(place.size() + 1);
  }
  return name.find('.') == std::string_view::npos;
}

bool has_children(std::string_view place) {
  return std::ranges::any_of(
      input_fields(), [&](const FieldDescription& field) { return is_child(field.name, place); });
}

json object_at(std::string_view place);

/// The object at `place`, by reference where it is what files of a kind hold.
json object_or_reference(std::string_view place) {
  const auto* const root = std::ranges::find(kRoots, place, &SchemaRoot::place);
  return root == kRoots.end() ? object_at(place)
                              : json{{"$ref", fmt::format("#/$defs/{}", root->name)}};
}

/// A type with the fields of its object, where it has one that is told.
json filled(const FieldDescription& field) {
  json schema = *field.type.schema;
  const auto elsewhere = kToldAt.find(field.name);
  const std::string_view place = elsewhere == kToldAt.end() ? field.name : elsewhere->second;
  if (!has_children(place)) return schema;
  const json object = object_or_reference(place);
  if (schema.contains("anyOf")) {
    schema["anyOf"][0] = object;
  } else if (schema.at("type") == "object") {
    schema = object;
  } else if (schema.at("type") == "array") {
    schema["items"] = object;
  } else {  // a number of them, or each
    schema = {{"anyOf", {schema, {{"type", "array"}, {"items", object}}}}};
  }
  // A topology will do for a cluster that is one job's.
  if (field.name == "cluster") schema["anyOf"].push_back(object_or_reference("cluster.topology"));
  return schema;
}

json object_at(std::string_view place) {
  std::vector<FieldDescription> children;
  for (const FieldDescription& field : input_fields()) {
    if (!is_child(field.name, place)) continue;
    FieldDescription child = field;
    child.name = field.name.substr(place.empty() ? 0 : place.size() + 1);
    child.type.schema = filled(field);
    // Families of models have fields of their own, and a configuration of Hugging Face has all.
    if (place == "model") child.required = false;
    children.push_back(std::move(child));
  }
  return *object_schema(children);
}

}  // namespace

const std::vector<FieldDescription>& input_fields() {
  static const std::vector<FieldDescription> kFields = [] {
    std::vector<FieldDescription> all;
    append_rows(all, scenario_rows());
    append_fields(all, "perturbations", perturbation_fields().described());
    append_fields(all, "statistics", statistics_fields().described());
    append_fields(all, "post_training", post_training_fields().described());
    append_fields(all, "data_loading", data_loading_field_descriptions());
    append_fields(all, "jobs.data_loading", sample_reading_fields().described());
    append_fields(all, "cost", cost_field_descriptions());
    append_fields(all, "run", run_fields().described());
    append_fields(all, "reliability", reliability_fields().described());
    append_strategy(all);
    append_rows(all, model_rows());
    append_fields(all, "model", transformer_fields().described());
    append_families(all);
    append_operators(all);
    append_fields(all, "cluster.topology", topology_field_descriptions());
    return all;
  }();
  return kFields;
}

std::span<const std::string_view> schema_names() {
  static constexpr auto kNames = [] {
    std::array<std::string_view, kRoots.size()> names;
    std::ranges::transform(kRoots, names.begin(), &SchemaRoot::name);
    return names;
  }();
  return kNames;
}

JsonValue file_schema(std::string_view name) {
  const auto* const root = std::ranges::find(kRoots, name, &SchemaRoot::name);
  HEADWAY_CHECK(root != kRoots.end(), "no schema has this name");
  json schema = object_at(root->place);
  for (const SchemaRoot& other : kRoots) {
    const bool is_referred_to =
        compact_json(schema).find(fmt::format("/{}\"", other.name)) != std::string::npos;
    if (is_referred_to) schema["$defs"][other.name] = object_at(other.place);
  }
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = fmt::format("Headway: a {}", name);
  schema["properties"]["$schema"] = {{"type", "string"}};  // which tells editors of this one
  if (schema["properties"].contains("schema")) schema["required"].push_back("schema");
  const std::set<json> required(schema["required"].begin(), schema["required"].end());
  schema["required"] = required;
  return schema;
}

}  // namespace headway
