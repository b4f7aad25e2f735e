#include "sim/validate/left_out_source.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/validate/changed_profile.h"
#include "sim/validate/source_effects.h"
#include "sim/validate/validation_data.h"

namespace headway {
namespace {

/// By source, what is changed in the profiles that its rows use.
const nlohmann::json& unseen_sources() {
  static const nlohmann::json sources = validation_data("unseen_sources.json", "sources");
  return sources;
}

}  // namespace

Scenario without_source(Scenario scenario, const std::string& source, bool is_mixture) {
  const auto of_source = unseen_sources().find(source);
  if (of_source == unseen_sources().end()) return scenario;
  const auto changes = of_source->find(scenario.profile->name);
  if (changes == of_source->end()) return scenario;
  scenario.profile = changed_profile(scenario.profile->name, *changes);
  scenario.perturbation.device_spread = scenario.profile->variation.device_speed.value;
  const auto effects = of_source->find("effects");
  if (effects == of_source->end()) return scenario;
  return with_source_effects(
      std::move(scenario), effects_of_source(source_effects_in(*effects), source, "", is_mixture));
}

}  // namespace headway
