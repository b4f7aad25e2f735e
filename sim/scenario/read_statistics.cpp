#include "sim/scenario/read_statistics.h"

#include <nlohmann/json.hpp>

namespace headway {

const FieldTable<StatisticsSettings>& statistics_fields() {
  constexpr Range kCounts{.least = 0.0, .most = 1e15, .open = true};
  static const FieldTable<StatisticsSettings> kFields(
      {{"steps", number(&StatisticsSettings::steps, kCounts).required(),
        "That such a run took to the target."},
       {"batch", number(&StatisticsSettings::batch, kCounts).required(), "Its samples a step."},
       {"noise_scale", number(&StatisticsSettings::noise_scale, kCounts).required_as("4000"),
        R"(Of the gradients, in samples, over the run.
see: McCandlish et al. 2018 (arXiv:1812.06162))"},
       {"penalty", number(&StatisticsSettings::penalty, between(1e-3, 1e3)),
        R"(On the steps, what this job's way to synchronise or compress is known to cost: local
steps and lost bits have no law that holds in general. Staleness of asynchronous workers is counted
besides.)"}});
  return kFields;
}

std::optional<StatisticsSettings> read_statistics(ObjectReader& scenario) {
  const std::optional<JsonCursor> part = scenario.part("statistics");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, scenario.diagnostics());
  StatisticsSettings settings;
  statistics_fields().read(reader, settings);
  scenario.resolve("statistics", reader.finish());
  return settings;
}

}  // namespace headway
