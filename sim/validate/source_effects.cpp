#include "sim/validate/source_effects.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/validate/validation_data.h"

namespace headway {
namespace {

/// The release that a source's factor on kernels is filed under.
constexpr const char* kSourceRelease = "as this source runs it";

double factor_of(const nlohmann::json& effects, const char* name) {
  const auto found = effects.find(name);
  return found == effects.end() ? 1.0 : found->at("value").get<double>();
}

std::map<std::string, SourceEffects> read_source_effects() {
  std::map<std::string, SourceEffects> known;
  const nlohmann::json sources = validation_data("sources.json", "sources");
  for (const auto& [source, effects] : sources.items()) {
    known[source] = {.kernel_time = factor_of(effects, "kernel_time"),
                     .memory_traffic = factor_of(effects, "memory_traffic"),
                     .gradient_traffic = factor_of(effects, "gradient_traffic")};
  }
  return known;
}

}  // namespace

std::map<std::string, SourceEffects> source_effects_in(const nlohmann::json& sources) {
  std::map<std::string, SourceEffects> effects;
  for (const auto& [source, said] : sources.items()) {
    effects[source] = {.kernel_time = said.value("kernel_time", 1.0),
                       .memory_traffic = said.value("memory_traffic", 1.0),
                       .gradient_traffic = said.value("gradient_traffic", 1.0)};
  }
  return effects;
}

const std::map<std::string, SourceEffects>& known_source_effects() {
  static const std::map<std::string, SourceEffects> known = read_source_effects();
  return known;
}

SourceEffects effects_of_source(const std::map<std::string, SourceEffects>& known,
                                const std::string& source, const std::string& release,
                                bool is_mixture) {
  SourceEffects product;
  const auto include = [&](const std::string& name) {
    const auto found = known.find(name);
    if (found == known.end()) return;
    product.kernel_time *= found->second.kernel_time;
    product.memory_traffic *= found->second.memory_traffic;
    product.gradient_traffic *= found->second.gradient_traffic;
  };
  std::vector<std::string> names = {source};
  if (!release.empty()) names.push_back(source + ", " + release);
  for (const std::string& name : names) {
    include(name);
    include(name + (is_mixture ? ", mixtures" : ", dense"));
  }
  return product;
}

Scenario with_source_effects(Scenario scenario, const SourceEffects& effects) {
  auto profile = std::make_shared<Profile>(*scenario.profile);
  KernelFamily& family = profile->kernel_families.at(scenario.strategy->kernel_family);
  family.memory_traffic.value *= effects.memory_traffic;
  family.gradient_traffic.value *= effects.gradient_traffic;
  const auto known = family.releases.find(scenario.strategy->software_release);
  Estimate kernels{.value = effects.kernel_time, .source = kSourceRelease};
  if (known != family.releases.end()) kernels.value *= known->second.value;
  family.releases[kSourceRelease] = kernels;
  scenario.change_strategy([](Strategy& strategy) { strategy.software_release = kSourceRelease; });
  scenario.profile = std::move(profile);
  return scenario;
}

}  // namespace headway
