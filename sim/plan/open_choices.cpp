#include "sim/plan/open_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_text.h"
#include "sim/files/read_memory.h"
#include "sim/jobs/strategy_fields.h"
#include "sim/plan/leaders.h"
#include "sim/predict/interval.h"
#include "sim/predict/predicted_memory.h"
#include "sim/programs/closed_form.h"
#include "sim/programs/known_jobs.h"

namespace headway {
namespace {

constexpr double kTelling = 0.02;
constexpr std::size_t kMostExplanations = 4;
/// Numbers that jobs leave out, of which twice as many are as common.
constexpr std::array<std::string_view, 2> kDoubled = {"micro_batch", "virtual_stages"};

/// Closed forms of a scenario and of others that differ from it in their strategy.
class ClosedForms {
 public:
  explicit ClosedForms(const Scenario& base) : base_(base) {}

  /// Nothing where parameter servers make it, which only simulations follow.
  [[nodiscard]] std::optional<Seconds> time_of(const Scenario& scenario) {
    if (scenario.strategy->synchronisation->servers() != nullptr) return {};
    // Parts that are read from memory are the very same.
    const bool is_alike = scenario.cluster == base_.cluster && scenario.profile == base_.profile &&
                          scenario.other_profiles == base_.other_profiles;
    return closed_form_iteration(scenario.model, *scenario.strategy, scenario.profiles(),
                                 *scenario.cluster, scenario.placement, scenario.perturbation,
                                 is_alike ? &known_ : nullptr);
  }

  /// With another value of a field of the strategy; nothing where the scenario cannot be run like
  /// that.
  [[nodiscard]] std::optional<Seconds> time_with(const std::string& path, ScenarioOptions options,
                                                 const std::string& field,
                                                 const nlohmann::json& value) {
    set_override(options.overrides, {"/strategy/" + field, compact_json(value)});
    Diagnostics ignored;
    try {
      const Scenario scenario = read_scenario(path, options, ignored);
      if (!predicted_memory(scenario, *scenario.strategy).fits) return {};
      return time_of(scenario);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

 private:
  const Scenario& base_;
  KnownJobs known_;
};

/// What may stand there instead.
std::vector<nlohmann::json> other_values(const Field<Strategy>& field,
                                         const nlohmann::json& taken) {
  if (std::ranges::find(kDoubled, field.name) != kDoubled.end()) {
    return {2 * taken.get<std::int64_t>()};
  }
  if (!field.member.is_presettable) return {};
  // Software that merges operators does so whoever runs it; what merges them in its place, a
  // compiler, is another kernel family.
  if (field.name == "fused_operators") return {};
  if (taken.is_boolean()) return {!taken.get<bool>()};
  const nlohmann::json& schema = *field.member.type.schema;
  if (!schema.contains("enum")) return {};
  std::vector<nlohmann::json> others;
  for (const nlohmann::json& word : schema.at("enum")) {
    if (word != taken) others.push_back(word);
  }
  return others;
}

/// How far apart two times are, in logarithms.
double apart(Seconds one, Seconds other) { return std::abs(std::log(one / other)); }

/// How far the farthest of the values is from `time`.
double reach(const OpenChoice& choice, Seconds time) {
  double farthest = 0.0;
  for (const OpenValue& other : choice.others)
    farthest = std::max(farthest, apart(other.time, time));
  return farthest;
}

}  // namespace

OpenChoices open_choices(const std::string& path, const ScenarioOptions& given_options) {
  ScenarioOptions options = given_options;
  if (options.memory == nullptr) options.memory = std::make_shared<ReadMemory>();
  Diagnostics ignored;
  const Scenario scenario = read_scenario(path, options, ignored);
  ClosedForms closed_forms(scenario);
  const nlohmann::json said = scenario.given->value("strategy", nlohmann::json::object());
  const std::optional<Seconds> time = closed_forms.time_of(scenario);
  if (!time) return {};
  OpenChoices open{.time = *time, .choices = {}};
  for (const Field<Strategy>& field : strategy_fields().fields()) {
    const FieldMember<Strategy>& member = field.member;
    const std::string name(field.name);
    if (said.contains(name) || !member.write) continue;
    if (member.is_used && !member.is_used(*scenario.strategy)) continue;
    const JsonValue taken = member.write(*scenario.strategy);
    if (taken->is_null()) continue;
    OpenChoice choice{.field = name, .taken = taken, .others = {}};
    for (const nlohmann::json& value : other_values(field, *taken)) {
      const auto other = closed_forms.time_with(path, options, name, value);
      if (other && apart(*other, open.time) >= kTelling) choice.others.push_back({value, *other});
    }
    std::ranges::stable_sort(choice.others, {}, &OpenValue::time);
    if (!choice.others.empty()) open.choices.push_back(std::move(choice));
  }
  std::ranges::stable_sort(open.choices, [&](const OpenChoice& a, const OpenChoice& b) {
    return reach(a, open.time) > reach(b, open.time);
  });
  return open;
}

std::optional<std::string> mixture_warning(const Scenario& scenario, const std::string& path,
                                           const ScenarioOptions& options) {
  const JobKind kind = job_kind(scenario);
  const bool is_mixture = kind == JobKind::experts || kind == JobKind::open_experts;
  if (!is_mixture || path == "-") return {};
  const OpenChoices open = open_choices(path, options);
  std::vector<std::string> fields;
  Seconds least = open.time;
  Seconds most = open.time;
  for (const OpenChoice& choice : open.choices) {
    if (std::ranges::find(kDoubled, choice.field) != kDoubled.end()) continue;
    fields.push_back(choice.field);
    for (const OpenValue& other : choice.others) {
      least = min(least, other.time);
      most = max(most, other.time);
    }
  }
  if (fields.empty()) return {};
  return fmt::format(
      "the scenario leaves {} to the software: another word for one of them would make {} .. {} of "
      "{}, in closed form (`headway check` tells which)",
      join_words(fields, ", "), short_text(least), short_text(most), short_text(open.time));
}

std::optional<std::string> choices_sentence(const OpenChoices& open, double ratio) {
  struct Explanation {
    double left;  ///< of the difference, in logarithms
    std::string words;
  };
  std::vector<Explanation> found;
  for (const OpenChoice& choice : open.choices) {
    for (const OpenValue& other : choice.others) {
      const double left = apart(other.time, ratio * open.time);
      if (left > 0.5 * std::abs(std::log(ratio))) continue;
      found.push_back({left, fmt::format("{} {} ({})", choice.field, unquoted_json(*other.value),
                                         short_text(other.time))});
    }
  }
  if (found.empty()) return {};
  std::ranges::stable_sort(found, {}, &Explanation::left);
  if (found.size() > kMostExplanations) found.resize(kMostExplanations);
  std::vector<std::string> words;
  for (const Explanation& explanation : found) words.push_back(explanation.words);
  return fmt::format(
      "what the scenario leaves to its software may be the reason: in closed form the job takes "
      "{}, with {}",
      short_text(open.time), join_words(words, ", "));
}

}  // namespace headway
