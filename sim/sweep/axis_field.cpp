#include "sim/sweep/axis_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/base/join_words.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_text.h"
#include "sim/reference/explain.h"

namespace headway {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kStrategy = "/strategy/";
constexpr std::string_view kNodes = "/cluster/nodes";
constexpr std::array<std::string_view, 3> kClusterSizes = {"gpus", "gpus_weak", "nodes"};

bool is_cluster_size(std::string_view name) {
  return std::ranges::find(kClusterSizes, name) != kClusterSizes.end();
}

/// The field that an axis sets: of those that set several, the one that makes them contradict
/// each other.
std::string pointer_of(const std::string& name) {
  if (is_cluster_size(name)) return std::string(kNodes);
  return name.starts_with('/') ? name : std::string(kStrategy) + name;
}

/// Names of fields that the strategy has, without "strategy.".
std::vector<std::string> strategy_fields() {
  constexpr std::string_view kPrefix = "strategy.";
  std::vector<std::string> fields;
  for (const Topic& topic : topics()) {
    const bool is_own = topic.kind == TopicKind::field && topic.name.starts_with(kPrefix);
    if (is_own && topic.name.find('.', kPrefix.size()) == std::string::npos) {
      fields.push_back(topic.name.substr(kPrefix.size()));
    }
  }
  return fields;
}

/// Pointers to everything in a resolved scenario.
void collect_pointers(const json& value, const std::string& pointer,
                      std::vector<std::string>& pointers) {
  if (!pointer.empty()) pointers.push_back(pointer);
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) {
    std::string below = pointer;
    append_token(below, key);
    collect_pointers(member, below, pointers);
  }
}

/// Those of what the base scenario has.
std::vector<std::string> pointers_in(const Scenario& base) {
  std::vector<std::string> pointers;
  collect_pointers(base.resolved, "", pointers);
  collect_pointers(base.given, "", pointers);
  return pointers;
}

/// The same, and those of all fields that are known by name.
std::vector<std::string> known_pointers(const Scenario& base) {
  std::vector<std::string> pointers = pointers_in(base);
  for (const Topic& topic : topics()) {
    if (topic.kind != TopicKind::field) continue;
    std::string pointer = "/" + topic.name;
    std::ranges::replace(pointer, '.', '/');
    // A measured number has its value beside its spread and its source.
    if (pointer.starts_with("/profile/")) pointers.push_back(pointer + "/value");
    pointers.push_back(std::move(pointer));
  }
  return pointers;
}

/// What may have been meant by a pointer: another field of the same part, or any other one.
std::string meant_pointers(const std::string& name, const std::vector<std::string>& pointers) {
  const std::size_t end_of_part = name.rfind('/') + 1;
  const std::string_view part = std::string_view(name).substr(0, end_of_part);
  std::vector<std::string_view> fields;
  for (const std::string_view pointer : pointers) {
    const bool is_beside =
        pointer.starts_with(part) && pointer.find('/', end_of_part) == std::string_view::npos;
    if (is_beside) fields.push_back(pointer.substr(end_of_part));
  }
  std::vector<std::string> meant = alike(std::string_view(name).substr(end_of_part), fields);
  for (std::string& field : meant) field = fmt::format("\"{}{}\"", part, field);
  if (!meant.empty()) return fmt::format("did you mean {}? ", join_words(meant, " or "));
  const std::string any = meant_text(name, {pointers.begin(), pointers.end()});
  return any.empty() ? any : any + " ";
}

void check_name(const Axis& axis, const Scenario& base, Diagnostics& diagnostics) {
  const auto is_among = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, axis.name) != names.end();
  };
  std::vector<std::string> names;
  if (axis.name.starts_with('/')) {
    // To list all fields there are takes as long as some twenty points.
    if (is_among(pointers_in(base))) return;
    names = known_pointers(base);
  } else {
    names = strategy_fields();
    names.insert(names.end(), kClusterSizes.begin(), kClusterSizes.end());
  }
  if (is_among(names)) return;
  std::string meant;
  if (axis.name.starts_with('/')) {
    meant = meant_pointers(axis.name, names);
  } else if (const std::string text = meant_text(axis.name, {names.begin(), names.end()});
             !text.empty()) {
    meant = text + " ";
  }
  diagnostics.add({.message = fmt::format("no field is called {}", in_quotes(axis.name)),
                   .location = {.file = "--axis " + axis.name},
                   .help = meant +
                           "an axis is gpus, gpus_weak, nodes, a field of the strategy, or the "
                           "JSON pointer of any field (`headway explain` lists them)"});
}

void check_cluster_sizes(const Axis& axis, const Scenario& base, Diagnostics& diagnostics) {
  const int unit = axis.name == "nodes" ? 1 : base.cluster->node_type.accelerators;
  for (const json& value : axis.values) {
    const bool counts = value.is_number_integer() && value.get<std::int64_t>() >= 1;
    if (counts && value.get<std::int64_t>() % unit == 0) continue;
    const std::int64_t lower = counts ? value.get<std::int64_t>() / unit * unit : 0;
    diagnostics.add(
        {.message = fmt::format("{} cannot be {}", axis.name, compact_json(value)),
         .location = {.file = "--axis " + axis.name},
         .help = unit == 1
                     ? std::string("use whole numbers from 1 on")
                     : fmt::format("nodes of this cluster have {} accelerators each: use {}", unit,
                                   lower == 0 ? fmt::format("a multiple of {}", unit)
                                              : fmt::format("{} or {}", lower, lower + unit))});
  }
}

std::string value_text(const json& value) {
  if (!value.is_string()) return compact_json(value);
  const std::string text = value.get<std::string>();
  return is_json(text) ? compact_json(value) : text;
}

/// A point in the making.
class PointFields {
 public:
  PointFields(const ordered_json& values, const Scenario& base) : base_(base) {
    for (const auto& [name, value] : values.items()) {
      if (is_cluster_size(name)) {
        const std::int64_t unit = name == "nodes" ? 1 : base.cluster->node_type.accelerators;
        nodes_ = value.get<std::int64_t>() / unit;
        grows_batch_ = name == "gpus_weak";
      } else {
        set(pointer_of(name), value);
        if (pointer_of(name) == kNodes && value.is_number_integer()) {
          nodes_ = value.get<std::int64_t>();
        }
      }
    }
  }

  std::vector<Override> overrides() && {
    set_nodes();
    fill_cluster();
    return std::move(overrides_);
  }

 private:
  void set(const std::string& pointer, const json& value) {
    fields_[pointer] = value;
    overrides_.push_back({pointer, value_text(value)});
  }

  /// The topology may stand in place of the object that takes nodes of it.
  void set_nodes() {
    if (!nodes_ || fields_.contains(std::string(kNodes))) return;
    const json& cluster = base_.given->at("cluster");
    if (cluster.is_object() && cluster.contains("topology")) {
      set(std::string(kNodes), *nodes_);
    } else {
      set("/cluster", {{"topology", cluster}, {"nodes", *nodes_}});
    }
  }

  [[nodiscard]] std::int64_t degree(std::string_view field, int of_base) const {
    const auto set = fields_.find(std::string(kStrategy) + std::string(field));
    if (set == fields_.end()) return of_base;
    return set->second.is_number_integer() ? set->second.get<std::int64_t>() : 0;
  }

  void fill_cluster() {
    const Placement& degrees = base_.placement;
    const std::int64_t ranks = degree("tensor_parallel", degrees.tensor) *
                               degree("context_parallel", degrees.context) *
                               degree("pipeline_parallel", degrees.pipeline);
    const std::int64_t accelerators =
        nodes_.value_or(base_.cluster->nodes) * base_.cluster->node_type.accelerators;
    const bool is_set = fields_.contains("/strategy/data_parallel");
    if (is_set || ranks < 1 || accelerators % ranks != 0) return;
    const std::int64_t data_parallel = accelerators / ranks;
    if (grows_batch_) {
      set("/strategy/global_batch", base_.samples_of_step() / degrees.data * data_parallel);
    }
    const json& given = base_.given->at("strategy");
    const bool is_left_out = given.is_object() && !given.contains("data_parallel");
    if (!is_left_out && data_parallel != degrees.data) {
      set("/strategy/data_parallel", data_parallel);
    }
  }

  const Scenario& base_;
  std::map<std::string, json> fields_;
  std::vector<Override> overrides_;
  std::optional<std::int64_t> nodes_;
  bool grows_batch_ = false;
};

}  // namespace

void check_axes(const std::vector<Axis>& axes, const Scenario& base, Diagnostics& diagnostics) {
  std::map<std::string, std::string> names_of;  // by what they set
  for (const Axis& axis : axes) {
    check_name(axis, base, diagnostics);
    if (is_cluster_size(axis.name)) check_cluster_sizes(axis, base, diagnostics);
    std::vector<std::string> set = {pointer_of(axis.name)};
    if (axis.name == "gpus_weak") set.emplace_back("/strategy/global_batch");
    for (const std::string& pointer : set) {
      const auto [other, is_new] = names_of.try_emplace(pointer, axis.name);
      if (is_new) continue;
      diagnostics.add({.message = fmt::format("the axes {} and {} both set {}", other->second,
                                              axis.name, pointer),
                       .location = {.file = "--axis " + axis.name},
                       .help = "leave one of them out"});
    }
  }
}

std::vector<Override> point_overrides(const ordered_json& values, const Scenario& base) {
  return PointFields(values, base).overrides();
}

}  // namespace headway
