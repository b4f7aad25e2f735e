#include "sim/plan/largest_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/files/input_files.h"
#include "sim/models/read_model.h"
#include "sim/plan/scenario_variant.h"
#include "sim/plan/strategy_search.h"
#include "sim/reference/catalog.h"

namespace headway {
namespace {

constexpr std::int64_t kResolution = 16;  ///< of the answer, as a part of it

/// What a size changes: the scenario as it becomes, and how to say so.
struct Variant {
  Scenario scenario;
  std::vector<Override> changes;
  TriedSize size;

  void set(const char* pointer, std::int64_t value) {
    changes.push_back({pointer, std::to_string(value)});
  }
};

class LargestSearch {
 public:
  LargestSearch(const PlanOptions& options, const Scenario& base, LargestGoal::Of of)
      : options_(options), base_(base), of_(of) {}

  LargestPlan plan() {
    if (of_ == LargestGoal::Of::model) {
      try_library();
    } else {
      try_steps();
    }
    LargestPlan plan{.goal = {of_}, .tried = std::move(tried_)};
    if (!largest_) {
      plan.largest = *std::ranges::min_element(plan.tried, {}, &TriedSize::value);
      return plan;
    }
    plan.largest = largest_->size;
    PlanOptions with = options_;
    with.leaders = *options_of(*largest_);
    plan.plan = plan_strategy(with, read_variant(with.leaders, base_));
    return plan;
  }

 private:
  std::optional<LeaderOptions> options_of(const Variant& variant) const {
    return variant_options(options_, variant.scenario, variant.changes, base_.strategy.ranks());
  }

  /// Empty if it fits.
  std::string reason_against(const Variant& variant) const {
    const std::optional<LeaderOptions> with = options_of(variant);
    if (!with) return "no strategy divides it";
    try {
      const Scenario scenario = read_variant(*with, base_);
      return has_fitting_strategy(StrategySpace(scenario, options_.kept))
                 ? ""
                 : "does not fit in memory";
    } catch (const InputError& error) {
      return error.diagnostics().front().message;
    }
  }

  bool fits(Variant variant) {
    variant.size.parameters = parameter_counts(variant.scenario.model).total();
    if (of_ == LargestGoal::Of::model) variant.size.value = variant.size.parameters;
    variant.size.reason = reason_against(variant);
    tried_.push_back(variant.size);
    if (!variant.size.reason.empty()) return false;
    if (!largest_ || variant.size.value > largest_->size.value) largest_ = std::move(variant);
    return true;
  }

  void try_library() {
    std::vector<Variant> variants;
    for (const CatalogEntry& entry : catalog("models")) {
      Diagnostics ignored;
      InputFiles files({}, data_folders(), ignored);
      const auto file = files.open(entry.path, "models");
      const auto read = file ? read_model(*file, files) : std::nullopt;
      if (!read) continue;
      Variant& variant = variants.emplace_back(Variant{base_, {}, {}});
      variant.scenario.model = read->model;
      variant.changes = {{"/model", entry.name}};
      variant.set("/strategy/sequence_length", base_.strategy.sequence_length);
      variant.size.name = entry.name;
    }
    std::ranges::stable_sort(variants, std::ranges::greater(), [](const Variant& variant) {
      return parameter_counts(variant.scenario.model).total();
    });
    for (Variant& variant : variants) {
      if (fits(std::move(variant))) return;
    }
  }

  void try_steps() {
    const std::int64_t steps = steps_of_base();
    std::int64_t fitting = 0;
    std::int64_t too_many = steps;
    constexpr int kDoublings = 20;
    for (int i = 0; i < kDoublings && fits(with_steps(too_many, steps)); ++i) {
      fitting = too_many;
      too_many *= 2;
    }
    while (too_many - fitting > std::max<std::int64_t>(1, fitting / kResolution)) {
      const std::int64_t middle = fitting + (too_many - fitting) / 2;
      (fits(with_steps(middle, steps)) ? fitting : too_many) = middle;
    }
  }

  /// Into how many parts the scenario's own size is cut.
  [[nodiscard]] std::int64_t steps_of_base() const {
    const TransformerModel& model = base_.model;
    const auto divides = [&](std::int64_t steps) {
      if (of_ == LargestGoal::Of::context) return base_.strategy.sequence_length % steps == 0;
      if (of_ == LargestGoal::Of::layers) return model.layers % steps == 0;
      const auto& experts = model.mixture_of_experts;
      return model.hidden % steps == 0 && model.attention_heads % steps == 0 &&
             model.kv_heads % steps == 0 && model.ffn_hidden % steps == 0 &&
             (!experts ||
              (experts->expert_hidden % steps == 0 && experts->shared_expert_hidden % steps == 0));
    };
    return divides(4) ? 4 : divides(2) ? 2 : 1;
  }

  [[nodiscard]] Variant with_steps(std::int64_t steps, std::int64_t of_base) const {
    Variant variant{base_, {}, {}};
    TransformerModel& model = variant.scenario.model;
    nlohmann::json& resolved = *variant.scenario.resolved;
    const auto scale = [&](auto& field, const char* pointer) {
      const std::int64_t value = field / of_base * steps;
      field = static_cast<std::remove_reference_t<decltype(field)>>(value);
      resolved[nlohmann::json::json_pointer(pointer)] = value;
      variant.set(pointer, value);
      return value;
    };
    if (of_ == LargestGoal::Of::context) {
      variant.size.value =
          scale(variant.scenario.strategy.sequence_length, "/strategy/sequence_length");
      const bool needs_positions = model.position_encoding == PositionEncoding::learned &&
                                   variant.size.value > model.sequence_length;
      if (needs_positions) {
        model.sequence_length = variant.size.value;
        variant.set("/model/sequence_length", variant.size.value);
      }
    } else if (of_ == LargestGoal::Of::layers) {
      variant.size.value = scale(model.layers, "/model/layers");
    } else {
      variant.size.value = scale(model.hidden, "/model/hidden");
      scale(model.attention_heads, "/model/attention_heads");
      scale(model.kv_heads, "/model/kv_heads");
      scale(model.ffn_hidden, "/model/ffn_hidden");
      if (model.mixture_of_experts) {
        scale(model.mixture_of_experts->expert_hidden, "/model/mixture_of_experts/expert_hidden");
        scale(model.mixture_of_experts->shared_expert_hidden,
              "/model/mixture_of_experts/shared_expert_hidden");
      }
    }
    // What a Hugging Face configuration calls its fields is its own.
    if (!base_.model_has_own_fields && of_ != LargestGoal::Of::context) {
      variant.changes = {{"/model", resolved.at("model").dump()}};
    }
    return variant;
  }

  const PlanOptions& options_;
  const Scenario& base_;
  LargestGoal::Of of_;
  std::vector<TriedSize> tried_;
  std::optional<Variant> largest_;
};

}  // namespace

LargestPlan plan_largest(const PlanOptions& options, const LargestGoal& goal,
                         Diagnostics& diagnostics) {
  const Scenario base = read_scenario(options.leaders.path, options.leaders.options, diagnostics);
  return LargestSearch(options, base, goal.of).plan();
}

}  // namespace headway
