#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/scenario/scenario.h"

namespace headway {

/// What sets the cluster and the people of a published source apart from others that run the same
/// software on the same accelerator: factors, 1 where a source is like any other. They belong to
/// rows of that source alone; nobody else's job has them.
struct SourceEffects {
  double kernel_time = 1.0;  ///< of everything that the device and its host do in a layer
  double memory_traffic = 1.0;
  double gradient_traffic = 1.0;
};

/// By the source's short name, from scenarios/validation/sources.json; "NAME, RELEASE", "NAME,
/// mixtures", "NAME, dense" and "NAME, RELEASE, mixtures" are what one release of its software, its
/// mixtures of experts, its other models, or those of a release are besides. Read once.
[[nodiscard]] const std::map<std::string, SourceEffects>& known_source_effects();

/// The same of JSON: {"NAME": {"kernel_time": factor, ...}, ...}.
[[nodiscard]] std::map<std::string, SourceEffects> source_effects_in(const nlohmann::json& sources);

/// The product of all that hold for a row.
[[nodiscard]] SourceEffects effects_of_source(const std::map<std::string, SourceEffects>& known,
                                              const std::string& source, const std::string& release,
                                              bool is_mixture);

/// The scenario as that source would run it.
[[nodiscard]] Scenario with_source_effects(Scenario scenario, const SourceEffects& effects);

}  // namespace headway
