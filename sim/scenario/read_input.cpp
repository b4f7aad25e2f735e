#include "sim/scenario/read_input.h"

#include <nlohmann/json.hpp>

namespace headway {

const FieldTable<InputSettings>& data_loading_fields() {
  constexpr Range kSamples{.least = 0.0, .most = 1e15, .open = true};
  constexpr Range kCores{.least = 0.0, .most = 1e4, .open = true};
  constexpr Range kRate{.least = 0.0, .most = 1e9, .open = true};
  static const FieldTable<InputSettings> kFields(
      {{"sample_size", quantity(&InputSettings::sample, positive()).required(), "As it is stored."},
       {"samples", number(&InputSettings::samples, kSamples).required(),
        "Of the data set. An epoch reads each once, in another order."},
       {"storage_bandwidth", quantity(&InputSettings::storage, positive()).required(),
        "That the job has of the storage, all nodes together."},
       {"cache", quantity(&InputSettings::cache, at_least(0.0)),
        "Of a node's memory or disk, for samples."},
       {"cache_scope", word(&InputSettings::scope),
        R"(What a node keeps: what it has read itself, of a data set that every epoch deals out anew;
or a part of the set, which it serves to all nodes of the job.)"},
       {"cores_per_gpu", number(&InputSettings::cores, kCores),
        R"(That prepare samples.
default: none: preparing takes no time)"},
       {"samples_per_s_per_core",
        number(&InputSettings::samples_of_core, kRate)
            .required()
            .only_where([](const InputSettings& input) { return input.cores.has_value(); },
                        {"cores_per_gpu", "", "nothing says how many cores prepare samples"}),
        R"(That one of them prepares.
default: required with cores_per_gpu)"}});
  return kFields;
}

std::optional<InputSettings> read_input(ObjectReader& scenario) {
  const std::optional<JsonCursor> part = scenario.part("data_loading");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, scenario.diagnostics());
  InputSettings settings;
  data_loading_fields().read(reader, settings);
  scenario.resolve("data_loading", reader.finish());
  return settings;
}

}  // namespace headway
