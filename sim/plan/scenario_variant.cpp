#include "sim/plan/scenario_variant.h"

#include <nlohmann/json.hpp>

namespace headway {

std::optional<LeaderOptions> variant_options(const PlanOptions& options, const Scenario& changed,
                                             const std::vector<Override>& changes,
                                             std::int64_t accelerators) {
  const StrategySpace space = options.space(changed, accelerators);
  const std::optional<StrategyChoice> some = space.any();
  if (!some) return std::nullopt;
  LeaderOptions with = options.leaders;
  for (const Override& field : changes) set_override(with.options.overrides, field);
  for (Override& field : choice_overrides(space, *some)) {
    set_override(with.options.overrides, std::move(field));
  }
  return with;
}

Scenario read_variant(const LeaderOptions& options, const Scenario& base) {
  Diagnostics ignored;
  Scenario scenario = read_scenario(options.path, options.options, ignored);
  (*scenario.given)["strategy"] = base.given->at("strategy");
  return scenario;
}

}  // namespace headway
