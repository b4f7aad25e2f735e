#include "sim/scenario/read_input.h"

#include <nlohmann/json.hpp>

namespace headway {

std::optional<InputSettings> read_input(ObjectReader& scenario) {
  const std::optional<JsonCursor> part = scenario.part("data_loading");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, scenario.diagnostics());
  InputSettings settings;
  settings.sample = reader.quantity<Bytes>("sample_size", positive());
  settings.samples = reader.number("samples", {.least = 0.0, .most = 1e15, .open = true});
  settings.storage = reader.quantity<BytesPerSecond>("storage_bandwidth", positive());
  settings.cache = reader.quantity<Bytes>("cache", at_least(0.0), Bytes(0.0));
  settings.scope = reader.choice<CacheScope>("cache_scope", kWords<CacheScope>, settings.scope);
  if (reader.has("cores_per_gpu")) {
    settings.cores = reader.number("cores_per_gpu", {.least = 0.0, .most = 1e4, .open = true});
    settings.samples_of_core =
        reader.number("samples_per_s_per_core", {.least = 0.0, .most = 1e9, .open = true});
  } else {
    if (reader.has("samples_per_s_per_core")) {
      reader.report("samples_per_s_per_core", "nothing says how many cores prepare samples", "",
                    R"(say how many: "cores_per_gpu": 12)");
    }
    static_cast<void>(reader.part("cores_per_gpu"));
    static_cast<void>(reader.part("samples_per_s_per_core"));
  }
  scenario.resolve("data_loading", reader.finish());
  return settings;
}

}  // namespace headway
