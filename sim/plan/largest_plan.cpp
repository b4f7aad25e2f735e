#include "sim/plan/largest_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/refuse.h"
#include "sim/files/input_files.h"
#include "sim/files/json_text.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/parameters.h"
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
  bool is_model = true;  ///< false if no model is of such a size

  void set(const char* pointer, std::int64_t value) {
    changes.push_back({pointer, std::to_string(value)});
  }
};

/// The model of a scenario whose fields were changed; nothing if they make none.
std::optional<Model> read_again(const nlohmann::json& resolved) {
  Diagnostics ignored;
  const auto document = JsonDocument::parse("scenario", compact_json(resolved), ignored);
  InputFiles files({}, data_folders(), ignored);
  auto read = read_model(*JsonCursor(document).member("model"), files);
  if (!read || ignored.has_errors()) return std::nullopt;
  return std::move(read->model);
}

/// Whether the model has what is to grow.
void check_growth(const Model& model, LargestGoal::Of of, bool has_fields) {
  const bool grows = of == LargestGoal::Of::model ||
                     (of == LargestGoal::Of::context ? model.has_tokens : has_fields);
  if (grows) return;
  refuse(fmt::format("{} has no field that could grow like that", model.name),
         "largest=model looks through the library");
}

class LargestSearch {
 public:
  LargestSearch(const PlanOptions& options, const Scenario& base, LargestGoal::Of of)
      : options_(options), base_(base), of_(of) {}

  LargestPlan plan() {
    check_growth(base_.model, of_, !scaled_fields().empty());
    if (of_ == LargestGoal::Of::model) {
      try_library();
    } else {
      try_steps();
    }
    LargestPlan plan{
        .goal = {of_}, .counts_tokens = base_.model.has_tokens, .tried = std::move(tried_)};
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
    return variant_options(options_, variant.scenario, variant.changes, base_.accelerators());
  }

  /// Empty if it fits.
  std::string reason_against(const Variant& variant) const {
    if (!variant.is_model) return "no model is so large";
    const std::optional<LeaderOptions> with = options_of(variant);
    if (!with) return "no strategy divides it";
    try {
      const Scenario scenario = read_variant(*with, base_);
      return has_fitting_strategy(options_.space(scenario)) ? "" : "does not fit in memory";
    } catch (const InputError& error) {
      return error.diagnostics().front().message;
    }
  }

  bool fits(Variant variant) {
    variant.size.parameters = parameter_count(variant.scenario.model);
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
      if (!read || read->model.has_tokens != base_.model.has_tokens) continue;
      Variant& variant = variants.emplace_back(Variant{base_, {}, {}});
      variant.scenario.model = read->model;
      variant.changes = {{"/model", entry.name}};
      if (base_.model.has_tokens) {
        variant.set("/strategy/sequence_length", base_.strategy->sequence_length);
      }
      variant.size.name = entry.name;
    }
    std::ranges::stable_sort(variants, std::ranges::greater(), [](const Variant& variant) {
      return parameter_count(variant.scenario.model);
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

  /// The fields of the model that grow with the size asked for.
  [[nodiscard]] std::vector<std::string> scaled_fields() const {
    if (of_ == LargestGoal::Of::context) return {};
    std::vector<std::string> fields = {"/model/layers"};
    if (of_ == LargestGoal::Of::width) {
      fields = {"/model/hidden",
                "/model/attention_heads",
                "/model/kv_heads",
                "/model/ffn_hidden",
                "/model/mixture_of_experts/expert_hidden",
                "/model/mixture_of_experts/shared_expert_hidden"};
    }
    std::erase_if(fields, [&](const std::string& field) { return !base_value(field); });
    return fields;
  }

  /// A whole number of the scenario as it is.
  [[nodiscard]] std::optional<std::int64_t> base_value(const std::string& pointer) const {
    const nlohmann::json::json_pointer place(pointer);
    const nlohmann::json& resolved = *base_.resolved;
    if (!resolved.contains(place) || !resolved.at(place).is_number_integer()) return std::nullopt;
    return resolved.at(place).get<std::int64_t>();
  }

  /// Into how many parts the scenario's own size is cut.
  [[nodiscard]] std::int64_t steps_of_base() const {
    const std::vector<std::string> fields = scaled_fields();
    const auto divides = [&](std::int64_t steps) {
      if (of_ == LargestGoal::Of::context) return base_.strategy->sequence_length % steps == 0;
      return std::ranges::all_of(
          fields, [&](const std::string& field) { return *base_value(field) % steps == 0; });
    };
    return divides(4) ? 4 : divides(2) ? 2 : 1;
  }

  [[nodiscard]] Variant with_steps(std::int64_t steps, std::int64_t of_base) const {
    Variant variant{base_, {}, {}};
    nlohmann::json& resolved = *variant.scenario.resolved;
    const auto set = [&](const std::string& pointer, std::int64_t value) {
      resolved[nlohmann::json::json_pointer(pointer)] = value;
      variant.set(pointer.c_str(), value);
    };
    if (of_ == LargestGoal::Of::context) {
      const std::int64_t length = base_.strategy->sequence_length / of_base * steps;
      variant.scenario.change_strategy(
          [&](Strategy& strategy) { strategy.sequence_length = length; });
      variant.size.value = length;
      set("/strategy/sequence_length", length);
      const auto& most = base_.model.most_positions;
      if (most && length > *most) set("/model/sequence_length", length);
    }
    for (const std::string& field : scaled_fields()) {
      const std::int64_t value = *base_value(field) / of_base * steps;
      if (variant.size.value == 0) variant.size.value = value;  // the first is what is asked for
      set(field, value);
    }
    if (auto model = read_again(resolved)) {
      variant.scenario.model = std::move(*model);
    } else {
      variant.is_model = false;
    }
    // What a Hugging Face configuration calls its fields is its own.
    if (!base_.model_has_own_fields && of_ != LargestGoal::Of::context) {
      variant.changes = {{"/model", compact_json(resolved.at("model"))}};
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
