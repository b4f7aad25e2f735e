#include "sim/predict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/files/json_document.h"
#include "sim/predict/simulate.h"
#include "sim/result/json/read_result.h"
#include "sim/scenario/resolved_scenario.h"

namespace headway {
namespace {

using nlohmann::json;

/// Fields that say what something is called; a preset's fields are written out in full.
constexpr std::array<std::string_view, 5> kNames = {"/name", "/description", "/strategy/preset",
                                                    "/model/source", "/cluster/topology/source"};
/// Parts that are one change where they bear another name.
constexpr std::array<std::string_view, 2> kNamedParts = {"/model", "/cluster/topology"};
/// Beyond these, changes that are worth least are made together.
constexpr std::size_t kMostEffects = 12;
/// Relative; results of the same input are the same to the last bit.
constexpr double kSame = 1e-9;

void collect(const std::string& pointer, const json& a, const json& b,
             std::vector<InputChange>& changes) {
  if (a == b || std::ranges::find(kNames, pointer) != kNames.end()) return;
  const bool is_one_part = std::ranges::find(kNamedParts, pointer) != kNamedParts.end() &&
                           a.is_object() && b.is_object() &&
                           a.value("name", "") != b.value("name", "");
  if (is_one_part || !a.is_object() || !b.is_object()) {
    changes.push_back({pointer, a, b});
    return;
  }
  json keys = a;
  keys.update(b);
  for (const auto& item : keys.items()) {
    const std::string& key = item.key();
    const std::string deeper = pointer + (json::json_pointer() / key).to_string();
    collect(deeper, a.value(key, json()), b.value(key, json()), changes);
  }
}

/// Whether a scenario has the field, or lacks it, by default: read without it, it has the same.
bool is_default(const json& scenario, const json::json_pointer& field) {
  if (!scenario.contains(field)) return true;
  json without = scenario;
  without.at(field.parent_pointer()).erase(field.back());
  try {
    Diagnostics ignored;
    const json read = read_resolved_scenario(without, "", ignored).resolved;
    return read.contains(field) && read.at(field) == scenario.at(field);
  } catch (const InputError&) {
    return false;  // it is required
  }
}

/// Takes out of both resolved scenarios what differs although it is the default in both: it follows
/// from another field that differs, as the data parallelism follows from what the other degrees
/// leave, and the cables' bandwidth from the NICs'. Whoever reads the scenarios works it out again.
/// The fields of two presets differ by themselves.
void leave_out_followers(json& a, json& b) {
  const json::json_pointer preset("/strategy/preset");
  const bool has_one_preset = a.value(preset, "") == b.value(preset, "");
  for (const InputChange& change : changed_inputs(a, b)) {
    const json::json_pointer field(change.pointer);
    if (change.pointer.starts_with("/strategy/") && !has_one_preset) continue;
    if (!is_default(a, field) || !is_default(b, field)) continue;
    for (json* const scenario : {&a, &b}) {
      if (scenario->contains(field)) scenario->at(field.parent_pointer()).erase(field.back());
    }
  }
}

using Changes = std::vector<InputChange>;

void apply(json& scenario, const Changes& changes) {
  for (const InputChange& change : changes) {
    const json::json_pointer place(change.pointer);
    if (!change.after->is_null()) {
      scenario[place] = change.after;
    } else if (scenario.contains(place)) {
      scenario.at(place.parent_pointer()).erase(place.back());
    }
  }
}

class Comparing {
 public:
  Comparing(const ComparedInput& a, const ComparedInput& b, int jobs,
            const std::function<void(std::size_t, std::size_t)>& progress)
      : a_(a), b_(b), jobs_(jobs), progress_(progress) {}

  Comparison result() && {
    comparison_.name_a = a_.name;
    comparison_.name_b = b_.name;
    const Changes changes = changed_inputs(a_.scenario, b_.scenario);
    expected_ = 2 + 3 * changes.size();
    comparison_.a = simulated(a_.scenario, true).value();
    comparison_.b = simulated(b_.scenario, true).value();
    note_other_times(a_, comparison_.a);
    note_other_times(b_, comparison_.b);
    add_alone(changes);
    add_last();
    add_in_turn();
    return std::move(comparison_);
  }

 private:
  /// Nothing if there is no such scenario, unless it `must` be one.
  std::optional<Prediction> simulated(const json& scenario, bool must = false) {
    std::optional<Prediction> prediction;
    try {
      Diagnostics diagnostics;
      SimulateOptions options{.jobs = jobs_, .scaling = must, .even_if_it_does_not_fit = true};
      prediction =
          simulate(read_resolved_scenario(scenario, a_.name, diagnostics), options).prediction;
    } catch (const InputError&) {
      if (must) throw;
    }
    ++done_;
    progress_(done_, std::max(done_, expected_));
    return prediction;
  }

  std::optional<Prediction> with(const Changes& changes) {
    json scenario = a_.scenario;
    apply(scenario, changes);
    return simulated(scenario);
  }

  void note_other_times(const ComparedInput& input, const Prediction& now) {
    if (!input.recorded) return;
    const double then = input.recorded->iteration_time.count();
    const double time = now.iteration_time.count();
    if (std::abs(time - then) < kSame * time) return;
    comparison_.notes.push_back(fmt::format(
        "{} was recorded with {:.4g} s; simulated again it takes {:.4g} s, so Headway or the "
        "profile have changed since (its provenance tells which it was made with)",
        input.name, then, time));
  }

  /// Each change alone; those that make no scenario alone are made together.
  void add_alone(const Changes& changes) {
    const Seconds base = comparison_.a.iteration_time;
    Changes together;
    for (const InputChange& change : changes) {
      if (const auto prediction = with({change})) {
        effects().push_back({.changes = {change}, .alone = prediction->iteration_time - base});
      } else {
        together.push_back(change);
      }
    }
    if (!together.empty()) add_joint(std::move(together));
    std::ranges::stable_sort(effects(), std::ranges::greater{}, [](const ChangeEffect& effect) {
      return std::abs(effect.alone.value_or(Seconds(0.0)).count());
    });
    while (effects().size() > kMostEffects) {
      const Changes least = effects().back().changes;
      effects().pop_back();
      Changes& last = effects().back().changes;
      last.insert(last.end(), least.begin(), least.end());
      effects().back().alone.reset();
    }
  }

  /// Changes that make no scenario alone: together or, if that is none either, with what they need
  /// of the others.
  void add_joint(Changes together) {
    const Seconds base = comparison_.a.iteration_time;
    const auto joined = [&](const ChangeEffect& effect) {
      Changes changes = together;
      changes.insert(changes.end(), effect.changes.begin(), effect.changes.end());
      return changes;
    };
    if (const auto prediction = with(together)) {
      effects().push_back({.changes = together, .alone = prediction->iteration_time - base});
      return;
    }
    while (!effects().empty()) {
      for (ChangeEffect& effect : effects()) {
        const Changes changes = joined(effect);
        if (const auto prediction = with(changes)) {
          effect = {.changes = changes, .alone = prediction->iteration_time - base};
          return;
        }
      }
      together = joined(effects().front());
      effects().erase(effects().begin());
    }
    effects() = {{.changes = together}};
    comparison_.notes.emplace_back(
        "only all changes together make a valid scenario, so none can be told apart");
  }

  void add_last() {
    if (effects().size() < 2) return;
    for (ChangeEffect& effect : effects()) {
      Changes others;
      for (const ChangeEffect& other : effects()) {
        if (&other != &effect) {
          others.insert(others.end(), other.changes.begin(), other.changes.end());
        }
      }
      if (const auto prediction = with(others)) {
        effect.last = comparison_.b.iteration_time - prediction->iteration_time;
      }
    }
  }

  /// Where the changes so far make no scenario, the next effect joins.
  void add_in_turn() {
    std::vector<ChangeEffect> in_turn;
    Changes made;
    Prediction before = comparison_.a;
    ChangeEffect waiting;
    for (std::size_t i = 0; i < effects().size(); ++i) {
      ChangeEffect& effect = effects()[i];
      made.insert(made.end(), effect.changes.begin(), effect.changes.end());
      if (waiting.changes.empty()) {
        waiting = effect;
      } else {
        waiting.changes.insert(waiting.changes.end(), effect.changes.begin(), effect.changes.end());
        waiting.alone.reset();
        waiting.last.reset();
      }
      const bool is_final = i + 1 == effects().size();
      std::optional<Prediction> after = is_final ? std::optional(comparison_.b) : with(made);
      if (!after) continue;
      waiting.before = before.iteration_time;
      waiting.after = after->iteration_time;
      waiting.throughput_before = before.throughput();
      waiting.throughput_after = after->throughput();
      in_turn.push_back(std::exchange(waiting, {}));
      before = std::move(*after);
    }
    effects() = std::move(in_turn);
  }

  std::vector<ChangeEffect>& effects() { return comparison_.effects; }

  const ComparedInput& a_;
  const ComparedInput& b_;
  int jobs_;
  const std::function<void(std::size_t, std::size_t)>& progress_;
  std::size_t done_ = 0;
  std::size_t expected_ = 0;
  Comparison comparison_;
};

}  // namespace

ComparedInput read_compared(const std::string& path, const ScenarioOptions& options,
                            Diagnostics& diagnostics) {
  Diagnostics unread;
  const bool is_file = path == "-" || std::filesystem::is_regular_file(path);
  const auto document = is_file && path != "-" ? JsonDocument::read(path, unread) : nullptr;
  const bool is_result = document != nullptr && document->root().is_object() &&
                         document->root().value("schema", json()) == "headway/result/1";
  if (!is_result) return {path, read_scenario(path, options, diagnostics).resolved, {}};

  Prediction recorded = read_result(JsonCursor(document), diagnostics);
  diagnostics.throw_if_errors();
  json scenario = recorded.question.scenario;
  // Recorded on a machine that kept its profiles elsewhere.
  const auto find_here = [](json& profile) {
    if (!profile.is_string()) return;
    const std::filesystem::path file = profile.get<std::string>();
    if (!std::filesystem::exists(file)) profile = file.stem().string();
  };
  if (scenario.contains("profile")) {
    json& profile = scenario["profile"];
    find_here(profile);
    if (profile.is_array()) std::ranges::for_each(profile, find_here);
  }
  scenario = read_resolved_scenario(scenario, path, diagnostics).resolved;
  return {path, std::move(scenario), std::move(recorded)};
}

std::vector<InputChange> changed_inputs(const json& a, const json& b) {
  std::vector<InputChange> changes;
  collect("", a, b, changes);
  return changes;
}

Comparison compare(const ComparedInput& a, const ComparedInput& b, int jobs,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  ComparedInput left = a;
  ComparedInput right = b;
  leave_out_followers(*left.scenario, *right.scenario);
  return Comparing(left, right, jobs, progress).result();
}

}  // namespace headway
