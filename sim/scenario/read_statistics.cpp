#include "sim/scenario/read_statistics.h"

#include <nlohmann/json.hpp>

namespace headway {

std::optional<StatisticsSettings> read_statistics(ObjectReader& scenario) {
  const std::optional<JsonCursor> part = scenario.part("statistics");
  if (!part) return std::nullopt;
  constexpr Range kCounts{.least = 0.0, .most = 1e15, .open = true};
  ObjectReader reader(*part, scenario.diagnostics());
  StatisticsSettings settings;
  settings.steps = reader.number("steps", kCounts);
  settings.batch = reader.number("batch", kCounts);
  settings.noise_scale = reader.number("noise_scale", kCounts);
  settings.penalty = reader.number("penalty", between(1e-3, 1e3), settings.penalty);
  scenario.resolve("statistics", reader.finish());
  return settings;
}

}  // namespace headway
