#include "sim/scenario/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/join_words.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/input_files.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr int kMostDelivered = 1'000'000;
/// Parts of a scenario that a candidate may have; "topology" is that of "cluster".
constexpr std::array kCandidateParts = {
    "model",         "cluster",     "profile",    "strategy",     "cost",
    "perturbations", "reliability", "statistics", "data_loading", "post_training"};

/// Fields that say which scenario a file is; what they chose was put in its place.
constexpr std::array kChoices = {"candidates", "candidate", "alternatives", "choose"};

struct ReadCandidate {
  CandidateCluster cluster;
  json parts;                                 ///< as the file has them
  std::map<std::string, std::string> places;  ///< "buy.json:12:5", by part
};

std::string place_of(const JsonCursor& part) {
  const SourceLocation location = part.problem("").location;
  if (location.line == 0) return location.file;  // a --set
  return fmt::format("{}:{}:{}", location.file, location.line, location.column);
}

/// "delivery": "domain", "unit", or a number of nodes.
void read_delivery(ObjectReader& reader, CandidateCluster& candidate) {
  using Delivery = CandidateCluster::Delivery;
  const auto given = reader.cursor().member("delivery");
  if (given && given->value().is_number()) {
    candidate.delivery = Delivery::nodes;
    candidate.nodes = static_cast<int>(reader.integer("delivery", between(1, kMostDelivered)));
  } else {
    candidate.delivery = reader.choice<Delivery>("delivery", kWords<Delivery>, Delivery::domain);
  }
}

ReadCandidate read_candidate(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  ReadCandidate candidate{.parts = json::object()};
  candidate.cluster.name = reader.text("name");
  read_delivery(reader, candidate.cluster);
  for (const char* name : kCandidateParts) {
    const auto given = reader.part(name);
    if (!given) continue;
    candidate.parts[name] = given->value();
    candidate.places[name] = place_of(*given);
  }
  if (const auto topology = reader.part("topology")) {
    if (candidate.parts.contains("cluster")) {
      reader.report("topology", "a candidate has a topology or a cluster, not both", "",
                    "put the topology into the cluster");
    }
    candidate.parts["cluster"] = {{"topology", topology->value()}};
    candidate.places["cluster"] = place_of(*topology);
  }
  reader.report_unknown();
  return candidate;
}

std::vector<ReadCandidate> read_candidates(const std::optional<JsonCursor>& list,
                                           Diagnostics& diagnostics) {
  std::vector<ReadCandidate> candidates;
  if (!list) return candidates;
  if (!list->is_array() || list->value().empty()) {
    diagnostics.add(list->problem("candidates is a list of clusters to choose from", "",
                                  R"(write [{"name": "A", "topology": "hgx_h200_400g"}])"));
    return candidates;
  }
  for (std::size_t i = 0; i < list->value().size(); ++i) {
    const JsonCursor element = list->element(i);
    if (!element.is_object()) {
      diagnostics.add(element.problem("a candidate is an object with a name", "",
                                      R"(write {"name": "A", "topology": "hgx_h200_400g"})"));
      continue;
    }
    ReadCandidate read = read_candidate(element, diagnostics);
    const bool is_known = std::ranges::any_of(candidates, [&](const ReadCandidate& other) {
      return other.cluster.name == read.cluster.name;
    });
    if (is_known) {
      diagnostics.add(
          element.problem(fmt::format("two candidates are called {}", in_quotes(read.cluster.name)),
                          "", "give this one a name of its own"));
    }
    candidates.push_back(std::move(read));
  }
  return candidates;
}

/// The candidate that is named; the first if none is.
const ReadCandidate* chosen(const std::optional<JsonCursor>& given,
                            const std::vector<ReadCandidate>& candidates,
                            Diagnostics& diagnostics) {
  if (!given) return &candidates.front();
  std::vector<std::string_view> names;
  for (const ReadCandidate& candidate : candidates) {
    if (given->value() == json(candidate.cluster.name)) return &candidate;
    names.emplace_back(candidate.cluster.name);
  }
  const std::string name = unquoted_json(given->value());
  const auto meant = closest(name, names);
  // Beside the message, where a sweep over names shows it, too.
  diagnostics.add(given->problem(fmt::format("no candidate is called {}", in_quotes(name)),
                                 fmt::format("there are {}", join_words(names, ", ")),
                                 meant ? fmt::format("did you mean \"{}\"?", *meant) : ""));
  return nullptr;
}

/// What a part becomes: fields of an object change those of the file's object, anything else
/// replaces it. A cluster that is a topology becomes an object with it.
json merged(const std::string& name, json own, json given) {
  const auto is_topology = [](const json& cluster) {
    return !cluster.is_object() || !cluster.contains("topology");
  };
  if (name == "cluster") {
    if (is_topology(given)) given = {{"topology", std::move(given)}};
    if (own.is_object() && !is_topology(own)) {
      own["topology"] = given.at("topology");  // in one piece
    }
  }
  if (!own.is_object() || !given.is_object()) return given;
  own.merge_patch(given);
  return own;
}

/// The file's root with overrides that lead no further, if it can be read.
std::optional<JsonCursor> root_of(const std::string& path, const std::vector<Override>& overrides,
                                  const std::shared_ptr<ReadMemory>& memory) {
  if (path == "-") return std::nullopt;  // can be read once only
  Diagnostics ignored;
  InputFiles files(overrides, data_folders(), ignored, memory);
  std::optional<JsonCursor> root = files.open(path, "scenarios");
  if (ignored.has_errors() || !root || !root->is_object()) return std::nullopt;
  return root;
}

/// Whether the file, or what is set in it, has anything to choose from: few have.
bool leaves_choices(const std::string& path, const std::vector<Override>& overrides,
                    const std::shared_ptr<ReadMemory>& memory) {
  const std::optional<JsonCursor> root = root_of(path, {}, memory);
  return std::ranges::any_of(kChoices, [&](const char* name) {
    const std::string pointer = std::string("/") + name;
    const auto sets_it = [&](const Override& set) { return is_at_or_below(set.pointer, pointer); };
    return (root && root->member(name)) || std::ranges::any_of(overrides, sets_it);
  });
}

}  // namespace

PlanFields read_plan_fields(const std::string& path, const ScenarioOptions& options,
                            Diagnostics& diagnostics) {
  PlanFields fields;
  const std::optional<JsonCursor> root = root_of(path, options.overrides, options.memory);
  if (!root) return fields;
  for (ReadCandidate& candidate : read_candidates(root->member("candidates"), diagnostics)) {
    fields.candidates.push_back(std::move(candidate.cluster));
  }
  const auto goal = root->member("goal");
  if (goal && goal->value().is_string()) {
    fields.goal = goal->value().get<std::string>();
    fields.goal_place = goal->problem("");
  }
  if (const auto post_training = root->member("post_training")) {
    fields.post_training = post_training->problem("");
  }
  return fields;
}

std::vector<Override> with_candidate(const std::string& path, std::vector<Override> overrides,
                                     const std::shared_ptr<ReadMemory>& memory,
                                     Diagnostics& diagnostics) {
  if (!leaves_choices(path, overrides, memory)) return overrides;
  const std::optional<JsonCursor> root = root_of(path, overrides, memory);
  if (!root) return overrides;
  json parts = json::object();
  std::map<std::string, std::string> places;
  const auto take = [&](const std::optional<JsonCursor>& list,
                        const std::optional<JsonCursor>& given) {
    const std::vector<ReadCandidate> candidates = read_candidates(list, diagnostics);
    const ReadCandidate* const candidate =
        candidates.empty() ? nullptr : chosen(given, candidates, diagnostics);
    if (candidate == nullptr) return;
    for (const auto& [name, part] : candidate->parts.items()) {
      const json& own = parts.contains(name) ? parts : root->value();
      parts[name] = merged(name, own.contains(name) ? own.at(name) : json(), part);
      places[name] = candidate->places.at(name);
    }
  };
  take(root->member("candidates"), root->member("candidate"));
  const std::optional<JsonCursor> groups = root->member("alternatives");
  const std::optional<JsonCursor> choices = root->member("choose");
  if (groups && groups->is_object()) {
    for (const auto& [name, unused] : groups->value().items()) {
      take(groups->member(name), choices ? choices->member(name) : std::nullopt);
    }
  }
  std::vector<Override> all;
  for (const auto& [name, part] : parts.items()) {
    all.push_back({"/" + name, compact_json(part), places.at(name)});
  }
  all.insert(all.end(), overrides.begin(), overrides.end());
  return all;
}

int delivered_nodes(const CandidateCluster& candidate, const Scenario& scenario) {
  const Cluster& cluster = *scenario.cluster;
  const int of_domain = std::max(1, cluster.scale_up_domain / cluster.node_type.accelerators);
  switch (candidate.delivery) {
    case CandidateCluster::Delivery::nodes:
      return candidate.nodes;
    case CandidateCluster::Delivery::unit: {
      const json& fabric = scenario.resolved->at("cluster").at("topology").at("fabric");
      return fabric.value("nodes_per_unit", of_domain);
    }
    case CandidateCluster::Delivery::domain:
      return of_domain;
  }
  HEADWAY_CHECK(false, "unknown delivery");
}

void check_choices(ObjectReader& reader) {
  for (const char* choice : kChoices) static_cast<void>(reader.part(choice));
  if (reader.has("candidate") && !reader.has("candidates")) {
    reader.report("candidate", "there are no candidates to choose from", "",
                  "list them in \"candidates\", or leave it out");
  }
  const std::optional<JsonCursor> groups = reader.cursor().member("alternatives");
  const std::optional<JsonCursor> choices = reader.cursor().member("choose");
  if (groups && !groups->is_object()) {
    reader.report("alternatives", "alternatives are lists by name", "",
                  R"(write {"network": [{"name": "fast", "topology": "hgx_h200_400g"}]})");
  }
  if (!choices) return;
  if (!choices->is_object()) {
    reader.report("choose", "choose names one of each list of alternatives", "",
                  R"(write {"network": "fast"})");
    return;
  }
  for (const auto& [name, unused] : choices->value().items()) {
    if (groups && groups->member(name)) continue;
    reader.diagnostics().add(
        choices->member(name)->key_problem("there is no such list of alternatives"));
  }
}

void erase_choices(nlohmann::json& resolved) {
  for (const char* choice : kChoices) resolved.erase(choice);
}

}  // namespace headway
