#include "sim/scenario/read_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace headway {
namespace {

constexpr Range kSamples{.least = 0.0, .most = 1e15, .open = true};
constexpr Range kRate{.least = 0.0, .most = 1e9, .open = true};

const FieldTable<InputSettings>& store_fields() {
  constexpr Range kCores{.least = 0.0, .most = 1e4, .open = true};
  static const FieldTable<InputSettings> kFields(
      {{"storage_bandwidth", quantity(&InputSettings::storage, positive()).required(),
        "At which the storage gives samples, and takes checkpoints, for all nodes together."},
       {"files_per_s", number(&InputSettings::files, kRate),
        R"(That the storage opens, for all nodes together: the rate of its metadata. What is cached is not
opened.
default: none: opening takes no time)"},
       {"storage_nodes", whole(&InputSettings::storage_nodes, between(0.0, 1e5)),
        R"(The last nodes of the cluster are the storage, and files are spread over all of them: reads
are flows on the links between, which they share with everything else. 0: on a network of its own.
limits: nodes that no job has)"},
       {"holds_checkpoints", flag(&InputSettings::holds_checkpoints),
        R"(Whether the checkpoints of reliability are written there too, beside steps that read: both
share storage_bandwidth, and every rank writes its part of reliability.checkpoint.storage_bandwidth at most.
limits: needs reliability.checkpoint.asynchronous true
see: input.checkpoint_step_s)"},
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

void check_store(ObjectReader& reader, const InputSettings& settings, const StoreContext& context) {
  if (settings.storage_nodes > context.free_nodes) {
    reader.report("storage_nodes", "the storage needs nodes behind those of all jobs",
                  fmt::format("{} wanted, {} left", settings.storage_nodes, context.free_nodes),
                  "lower cluster.job_nodes, or give the topology more nodes");
  }
  if (settings.storage_nodes > 0 && context.has_parameter_servers) {
    reader.report("storage_nodes",
                  "storage on the fabric is modelled without parameter servers only", "",
                  R"(set synchronisation.scheme to "all_reduce", or storage_nodes to 0)");
  }
  if (settings.holds_checkpoints && !context.checkpoints_beside_steps) {
    reader.report("holds_checkpoints", "no checkpoint is written while steps read",
                  "there is none, or training stands still for it",
                  R"(set reliability.checkpoint.asynchronous to true, or leave this out)");
  }
  if (settings.holds_checkpoints && context.has_parameter_servers) {
    reader.report("holds_checkpoints",
                  "checkpoints beside reads are modelled without parameter servers only", "",
                  R"(set synchronisation.scheme to "all_reduce", or leave this out)");
  }
}

}  // namespace

BytesPerSecond InputSettings::rate_for(const SampleReading& reading) const {
  if (!files) return storage;
  return min(storage, *files * reading.samples_of_file * reading.sample / Seconds(1.0));
}

const FieldTable<SampleReading>& sample_reading_fields() {
  static const FieldTable<SampleReading> kFields(
      {{"sample_size", quantity(&SampleReading::sample, positive()).required(), "As it is stored."},
       {"samples", number(&SampleReading::samples, kSamples).required(),
        "Of the data set. An epoch reads each once, in another order."},
       {"samples_per_file", number(&SampleReading::samples_of_file, kSamples),
        "Read one after the other once their file is open: 1 where each sample is a file."},
       {"cache", quantity(&SampleReading::cache, at_least(0.0)),
        "Of a node's memory or disk, for samples."},
       {"cache_scope", word(&SampleReading::scope),
        R"(What a node keeps: what it has read itself, of a data set that every epoch deals out anew;
or a part of the set, which it serves to all nodes of the job.)"},
       {"prefetch", whole(&SampleReading::prefetch, between(0.0, 64.0)),
        R"(Steps whose samples may wait in memory. 0: those of a step are read and prepared once it
begins, and it waits for all of them.)"}});
  return kFields;
}

std::vector<FieldDescription> data_loading_field_descriptions() {
  std::vector<FieldDescription> all = sample_reading_fields().described();
  std::ranges::move(store_fields().described(), std::back_inserter(all));
  return all;
}

std::optional<InputSettings> read_input(ObjectReader& scenario,
                                        const std::optional<StoreContext>& context) {
  const std::optional<JsonCursor> part = scenario.part("data_loading");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, scenario.diagnostics());
  InputSettings settings;
  sample_reading_fields().read(reader, settings);
  store_fields().read(reader, settings);
  if (context) check_store(reader, settings, *context);
  scenario.resolve("data_loading", reader.finish());
  return settings;
}

}  // namespace headway
