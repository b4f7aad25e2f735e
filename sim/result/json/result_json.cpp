#include "sim/result/json/result_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

#include "sim/files/json_text.h"
#include "sim/result/decision/objective.h"
#include "sim/result/decision/run_time.h"
#include "sim/result/json/prediction_fields.h"
#include "sim/result/run_cost.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

using nlohmann::json;

/// JSON knows neither infinity nor not-a-number.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

template <class Tag>
json number(Quantity<Tag> value) {
  return number(value.count());
}

json energy_json(const EnergyByActivity& energy) {
  return json::object({{"computing", number(energy.computing)},
                       {"exchanging", number(energy.exchanging)},
                       {"waiting", number(energy.waiting)}});
}

/// Each only where the scenario gives what it is made of.
void add_cost(json& result, const RunCost& cost) {
  const auto add = [](json& object, const char* name, const auto& value) {
    if (value) object[name] = number(*value);
  };
  add(result, "cost_usd", cost.usd);
  add(result, "energy_J", cost.energy);
  if (cost.energy_by_activity) {
    result["energy_by_activity_J"] = energy_json(*cost.energy_by_activity);
  }
  add(result, "carbon_kg", cost.carbon_kg);
  add(result, "peak_power_W", cost.peak_power);
  constexpr double kMillion = 1e6;
  if (cost.tokens > 0.0 && cost.usd) {
    result["cost_usd_per_million_tokens"] = number(*cost.usd / cost.tokens * kMillion);
  }
  if (cost.tokens > 0.0 && cost.energy) {
    result["energy_J_per_token"] = number(*cost.energy / cost.tokens);
  }
  if (!cost.run) return;
  const RunCost::Run& run = *cost.run;
  add(result, "run_cost_usd", run.usd());
  if (const auto range = run.usd_interval()) {
    result["run_cost_interval_usd"] = {number(range->low), number(range->high)};
  }
  const std::array others = {run.purchase_usd, run.electricity_usd, run.storage_usd,
                             run.egress_usd};
  if (std::ranges::any_of(others, [](const auto& part) { return part.has_value(); })) {
    json parts = json::object();
    add(parts, "gpus", run.gpus_usd);
    add(parts, "purchase", run.purchase_usd);
    add(parts, "electricity", run.electricity_usd);
    add(parts, "storage", run.storage_usd);
    add(parts, "egress", run.egress_usd);
    result["run_cost_parts_usd"] = std::move(parts);
  }
  if (run.bought_usd) {
    add(result, "run_outlay_usd", run.outlay());
    const Interval range = *run.outlay_interval();
    result["run_outlay_interval_usd"] = {number(range.low), number(range.high)};
  }
  add(result, "run_energy_J", run.energy);
  if (run.energy_by_activity) {
    result["run_energy_by_activity_J"] = energy_json(*run.energy_by_activity);
  }
  add(result, "run_carbon_kg", run.carbon_kg);
}

// What documents hold beside the fields, for readers who do not want to work it out.

template <class T>
void add_derived(json& /*object*/, const T& /*of*/) {}

void add_derived(json& object, const StageMemory& of) { object["total"] = number(of.total()); }

void add_derived(json& object, const MemoryPrediction& of) {
  object["largest"] = number(fullest_memory(of).total());
}

void add_derived(json& object, const SharedFabric::Stay& of) { object["slowdown"] = of.slowdown(); }

void add_derived(json& object, const SharedFabric& of) {
  json totals = json::array();
  for (const SharedFabric::Total& total : of.totals()) {
    totals.push_back(
        {{"job", total.job}, {"samples", total.samples}, {"slowdown", total.slowdown}});
  }
  object["totals"] = std::move(totals);
}

void add_derived(json& object, const WhatIf& of) {
  const Seconds lost = of.time - of.ideal;
  object["slowdown"] = of.slowdown();
  object["wasted_share"] = of.wasted_share();
  object["wasted_gpu_hours_per_iteration"] = of.gpu_hours_an_iteration(lost);
  object["wasted_gpu_hours_per_day"] = of.gpu_hours_a_day(lost);
  for (std::size_t i = 0; i < of.removals.size(); ++i) {
    json& removal = object["removals"][i];
    removal["gpu_hours_per_iteration"] = of.gpu_hours_an_iteration(of.removals[i].gain);
    removal["gpu_hours_per_day"] = of.gpu_hours_a_day(of.removals[i].gain);
  }
}

/// The main numbers of "long_run".
void add_reliability(json& object, const ReliabilityPrediction& of) {
  object["goodput"] = of.goodput.mean;
  object["ettr"] = of.ettr.mean;
}

/// When the run is through, and what the scenario is about.
void add_run(json& object, const Prediction& of) {
  object["objective"] = objective_name(objective_of(decision_numbers(of)));
  const std::optional<RunTime> through = was_simulated(of) ? run_time(of) : std::nullopt;
  if (!through) return;
  const Interval interval = through->interval();
  object["run_time_s"] = number(through->at(0.5));
  object["run_time_interval_s"] = {number(interval.low), number(interval.high)};
  object["time_to_train_s"] = {{"mean", number(through->mean())},
                               {"p5", number(interval.low)},
                               {"p50", number(through->at(0.5))},
                               {"p95", number(interval.high)}};
}

void add_derived(json& object, const Prediction& of) {
  object["schema"] = "headway/result/1";
  if (!of.scaling) object["scaling_reference"] = object["scaling_efficiency"] = nullptr;
  if (const auto cost = run_cost(of)) add_cost(object, *cost);
  if (of.reliability) add_reliability(object, *of.reliability);
  add_run(object, of);
}

// Parts that documents do without where there is nothing in them.

template <class T>
bool is_left_out(const T& /*of*/) {
  return false;
}
template <class T>
bool is_left_out(const std::optional<T>& of) {
  return !of;
}
bool is_left_out(const Activity& of) { return of.rows.empty(); }
bool is_left_out(const FabricUse& of) { return of.cables.empty(); }

/// By name.
using HeldParts = std::map<std::string, const JsonValue*>;

class Writer {
 public:
  /// With `apart`, documents that are fields of the object are not copied but referred to there.
  explicit Writer(bool was_simulated, HeldParts* apart = nullptr)
      : was_simulated_(was_simulated), apart_(apart) {}

  template <class T>
  void operator()(const char* name, const T& of, FieldRule rule = FieldRule::none) {
    if (rule == FieldRule::unwritten || is_left_out(of)) return;
    if constexpr (std::is_same_v<T, JsonValue>) {
      if (apart_ != nullptr && rule == FieldRule::none) {
        object_[name] = nullptr;
        apart_->emplace(name, &of);
        return;
      }
    }
    json value = value_of(of);
    if (rule == FieldRule::tera) value = number(value.get<double>() / 1e12);
    if (!was_simulated_ && (rule == FieldRule::simulated || rule == FieldRule::tera)) {
      constexpr bool keeps_its_form = std::is_same_v<T, Interval> || std::is_same_v<T, TimeByCause>;
      if (!keeps_its_form) value = nullptr;
      for (json& part : value) part = nullptr;
    }
    if (rule == FieldRule::of_tokens && (!was_simulated_ || value == 0.0)) value = nullptr;
    if (std::string_view(name).find('/') == std::string_view::npos) {
      object_[name] = std::move(value);
    } else {
      object_[json::json_pointer(std::string("/") + name)] = std::move(value);
    }
  }

  template <class T>
  [[nodiscard]] json object_of(const T& of) const {
    return Writer(was_simulated_).filled_with(of);
  }

  /// The object of a writer that has none yet.
  template <class T>
  [[nodiscard]] json filled_with(const T& of) && {
    visit_fields(*this, of);
    add_derived(object_, of);
    return std::move(object_);
  }

 private:
  [[nodiscard]] json value_of(double of) const { return number(of); }
  template <class Tag>
  [[nodiscard]] json value_of(Quantity<Tag> of) const {
    return number(of);
  }
  [[nodiscard]] json value_of(const JsonValue& of) const { return *of; }
  [[nodiscard]] json value_of(RemovalKind of) const { return word_of(of); }
  [[nodiscard]] json value_of(const Interval& of) const {
    return json::array({number(of.low), number(of.high)});
  }
  [[nodiscard]] json value_of(const Activity::Span& of) const {
    return json::array({of.kind, number(of.start), number(of.end)});
  }
  [[nodiscard]] json value_of(const TimeByCause& of) const {
    json causes = json::object();
    for (std::size_t i = 0; i < kCauses; ++i) {
      const auto cause = static_cast<Cause>(i);
      causes[std::string(cause_name(cause))] = number(of[cause]);
    }
    return causes;
  }
  [[nodiscard]] json value_of(const std::map<std::string, double>& of) const {
    json numbers = json::object();
    for (const auto& [name, value] : of) numbers[name] = number(value);
    return numbers;
  }
  template <class T>
  [[nodiscard]] json value_of(const std::vector<T>& of) const {
    json list = json::array();
    for (const T& element : of) list.push_back(value_of(element));
    return list;
  }
  template <class T>
  [[nodiscard]] json value_of(const std::optional<T>& of) const {
    return value_of(*of);
  }
  template <class T>
  [[nodiscard]] json value_of(const T& of) const {
    if constexpr (VisitedBy<const T, Writer>) {
      return object_of(of);
    } else {
      return of;
    }
  }

  json object_ = json::object();
  bool was_simulated_;
  HeldParts* apart_;
};

}  // namespace

json result_json(const Prediction& prediction) {
  return Writer(was_simulated(prediction)).object_of(prediction);
}

std::string compact_result_text(const Prediction& prediction) {
  HeldParts apart;
  const json rest = Writer(was_simulated(prediction), &apart).filled_with(prediction);
  std::string text;
  for (const auto& [name, value] : rest.items()) {
    const auto held = apart.find(name);
    text += text.empty() ? '{' : ',';
    text += compact_json(json(name)) + ':';
    text += held == apart.end() ? compact_json(value) : held->second->text();
  }
  return text + '}';
}

std::string result_json_text(const Prediction& prediction) {
  return json_text(result_json(prediction));
}

}  // namespace headway
