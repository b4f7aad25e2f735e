#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/import/import_format.h"
#include "sim/launch/reading/job_model.h"
#include "sim/launch/reading/job_place.h"
#include "sim/launch/reading/started_config.h"
#include "sim/launch/reading/strategy_of_settings.h"
#include "sim/launch/reading/toml_settings.h"
#include "sim/launch/reading/torchtitan_pipeline.h"
#include "sim/launch/reading/torchtitan_settings.h"
#include "sim/launch/reading/unread_settings.h"

namespace headway {

Importer import_torchtitan;

namespace {

using nlohmann::json;

constexpr std::string_view kNamesOfToml[] = {"CONFIG_FILE", "--job.config-file"};

bool is_torchtitan_config(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') {
      // A table begins it, whatever is wrong behind; "[ -n ... ]" of a shell does not.
      return (line[first] == '[' && line.substr(first + 1, 1) != " " &&
              line.substr(first + 1, 1) != "[") ||
             is_toml(text);
    }
    begin = end + 1;
  }
  return false;
}

class TorchtitanImport {
 public:
  TorchtitanImport(const ImportRequest& request, Diagnostics& diagnostics)
      : request_(request), diagnostics_(diagnostics) {}

  std::optional<json> made() {
    if (!read_settings()) return std::nullopt;
    const std::optional<json> model = read_model_name();
    settle_degrees();
    json cluster = job_cluster(request_, {.ranks = ranks_, .nodes = nodes_}, diagnostics_);
    if (diagnostics_.has_errors() || !model) return std::nullopt;
    const JobModel read = job_model(*model);
    settle_words();
    ToldStrategy told =
        strategy_of_settings(settings_, LaunchFramework::torchtitan, used_, diagnostics_);
    const bool is_compiled = settings_.value("compile.enable") == "true";
    use({"compile.enable"});
    const std::string preset = !request_.preset.empty() ? request_.preset
                               : is_compiled            ? "torchtitan"
                                                        : "torchtitan-eager";
    const Framework* const software = framework_named(preset);
    settle_sharding(told.said);
    if (degree(kPipeline) > 1.0) {
      settle_torchtitan_pipeline(settings_, read.layers, told.said, used_, diagnostics_);
    } else {
      for (const char* field : {"schedule", "layer_placement", "overlap_pipeline_transfers"}) {
        told.said.erase(field);
        told.unasked.erase(field);
      }
      use({"parallelism.pipeline_parallel_split_points", "parallelism.pipeline_parallel_schedule",
           "parallelism.pipeline_parallel_layers_per_stage"});
    }
    if (degree(kContext) <= 1.0) told.said.erase("context_parallel_method");
    if (degree(kTensor) <= 1.0) told.unasked.erase("vocabulary_parallel_loss");
    // Only what is compiled is split for it.
    if (degree(kTensor) <= 1.0 || !is_compiled) told.said.erase("tensor_parallel_overlap");
    settle_reductions(told.said);
    settle_batches(told.said);
    settle_recomputation(told.said, read.layers);
    if (diagnostics_.has_errors()) return std::nullopt;
    strategy_ = software == nullptr ? told.said : beside_preset(told, *software, read.has_experts);
    strategy_["preset"] = preset;
    tell_unread(settings_, used_, is_no_matter_to_torchtitan, diagnostics_);
    return job_scenario(request_, *model, std::move(cluster), strategy_);
  }

 private:
  static constexpr const char* kTensor = "parallelism.tensor_parallel_degree";
  static constexpr const char* kContext = "parallelism.context_parallel_degree";
  static constexpr const char* kPipeline = "parallelism.pipeline_parallel_degree";
  static constexpr const char* kReplicate = "parallelism.data_parallel_replicate_degree";
  static constexpr const char* kShard = "parallelism.data_parallel_shard_degree";
  static constexpr const char* kLocalBatch = "training.local_batch_size";
  static constexpr const char* kGlobalBatch = "training.global_batch_size";
  static constexpr const char* kMode = "activation_checkpoint.mode";
  static constexpr const char* kOption = "activation_checkpoint.selective_ac_option";

  void use(std::initializer_list<const char*> names) { used_.insert(names.begin(), names.end()); }
  [[nodiscard]] double degree(const char* name) const { return torchtitan_degree(settings_, name); }
  void give(const char* name, double value) {
    const GivenSetting* const known = settings_.find(name);
    settings_.give(
        {name, {fmt::format("{:.0f}", value)}, known == nullptr ? SourceLocation{} : known->place});
  }
  void replace(const char* name, std::string value) {
    settings_.give({name, {std::move(value)}, settings_.find(name)->place});
  }
  void tell(Severity severity, const char* name, std::string message, std::string help = "") {
    const GivenSetting* const setting = settings_.find(name);
    const bool is_said = setting != nullptr && !setting->place.file.empty();
    diagnostics_.add(
        {.severity = severity,
         .message = fmt::format("{}: {}", name, message),
         .location = is_said ? setting->place : SourceLocation{.file = request_.paths.front()},
         .help = std::move(help)});
  }

  bool read_settings() {
    const auto config = read_started_config(request_.paths.front(), is_torchtitan_config,
                                            kNamesOfToml, diagnostics_);
    if (!config) return false;
    const GivenSettings given =
        settings_of_toml(config->file, config->text, config->lines_before, diagnostics_);
    GivenSettings flags;
    for (const auto& [flag, setting] : config->job.settings.all()) {
      if (flag.find('.') != std::string::npos) flags.give(setting);
    }
    if (config->text.empty()) name_configuration(config->job.settings, flags);
    settings_ = torchtitan_settings(given, flags);
    ranks_ = config->job.ranks;
    nodes_ = config->job.nodes;
    const auto number = config->job.variables.find("NGPU");
    if (!ranks_ && !nodes_ && number != config->job.variables.end()) {
      ranks_ = parse_number<double>(number->second);
    }
    if (diagnostics_.has_errors()) return false;
    const bool is_any = std::ranges::any_of(settings_.all(), [](const auto& entry) {
      const bool is_said = !entry.second.place.file.empty();
      return is_said &&
             (entry.first.starts_with("training.") || entry.first.starts_with("parallelism.") ||
              entry.first.starts_with("model."));
    });
    if (!is_any) {
      diagnostics_.add(
          {.message = "there are no settings of a job of torchtitan in this",
           .location = {.file = request_.paths.front()},
           .help = "give its TOML, with tables such as [model], [training] and [parallelism], or a "
                   "script that is started with one (--job.config_file)"});
    }
    return is_any;
  }

  /// Releases from 2026 have their configurations in Python: "--module llama3 --config llama3_8b".
  void name_configuration(const GivenSettings& job, GivenSettings& flags) {
    const GivenSetting* const named = job.find("--config");
    if (named == nullptr || named->values.empty()) return;
    const std::string module = job.value("--module");
    const std::string name = named->values.front();
    flags.give({"model.name", {module}, named->place});
    flags.give({"model.flavor",
                {name.starts_with(module + "_") ? name.substr(module.size() + 1) : name},
                named->place});
    diagnostics_.add(
        {.severity = Severity::warning,
         .message =
             fmt::format("the configuration {} is Python, which is not read", in_quotes(name)),
         .location = named->place,
         .help = "what it sets and no flag says is taken to be as torchtitan has it by itself"});
  }

  std::optional<json> read_model_name() {
    use({"model.name", "model.flavor"});
    if (!request_.model.empty()) return json(request_.model);
    const std::string name = settings_.value("model.name");
    const std::string flavor = settings_.value("model.flavor");
    const std::string known = torchtitan_model(name, flavor);
    if (!known.empty()) return model_of_library(known);
    const GivenSetting* setting = settings_.find("model.flavor");
    if (setting == nullptr) setting = settings_.find("model.name");
    const std::string flavors = torchtitan_flavors(name);
    const std::string of_name =
        flavors.empty() ? "none of that name" : fmt::format("{} of {}", flavors, name);
    diagnostics_.add(
        {.message = name.empty() && flavor.empty()
                        ? "which model the job trains is not in the file"
                        : fmt::format("the model {} of flavor {} is not in the library, which has "
                                      "{}",
                                      in_quotes(name), in_quotes(flavor), of_name),
         .location =
             setting == nullptr ? SourceLocation{.file = request_.paths.front()} : setting->place,
         .help = "say it: --model NAME, one of `headway list models`, a file of a model, or the "
                 "config.json that Hugging Face has of it"});
    return std::nullopt;
  }

  /// torchtitan's models predict the next token only.
  static json model_of_library(const std::string& name) {
    json fields = fields_of_model(name);
    constexpr const char* kFurther = "multi_token_prediction_layers";
    if (!fields.is_object() || !fields.contains(kFurther)) return name;
    fields.erase(kFurther);
    fields.erase("parameters");  // with them
    return fields;
  }

  /// How many replicas there are, and how many of them share parameters, of what is left to
  /// torchtitan or follows from the rest.
  void settle_degrees() {
    const double of_a_replica = degree(kTensor) * degree(kContext) * degree(kPipeline);
    const double replicate = degree(kReplicate);
    const auto shards = settings_.number(kShard);
    const bool is_left = !shards || *shards < 1.0;
    if (!is_left && !request_.nodes && !ranks_) {
      ranks_ = of_a_replica * replicate * degree(kShard);
    }
    const auto ranks = job_ranks(request_, {.ranks = ranks_, .nodes = nodes_});
    if (!ranks) return;  // which job_cluster tells
    replicas_ = *ranks / of_a_replica;
    const double each = is_left ? replicas_ / replicate : degree(kShard);
    if (each * replicate != replicas_ || each != std::floor(each)) {
      const std::string factors =
          is_left
              ? fmt::format("{:.0f} ranks are no multiple of {:.0f} replicas", *ranks, replicate)
              : fmt::format("{:.0f} ranks are not {:.0f} x {:.0f} replicas", *ranks, degree(kShard),
                            replicate);
      tell(Severity::error, kShard, fmt::format("{} of {:.0f}", factors, of_a_replica),
           "say how many nodes there are: --nodes N");
      return;
    }
    give(kShard, each);
    give(kReplicate, replicate);
  }

  /// Words of torchtitan that stand for others beside the rest.
  void settle_words() {
    if (const auto global = settings_.number(kGlobalBatch); global && *global < 0.0) {
      settings_.forget(kGlobalBatch);
    }
    constexpr const char* kReshard = "parallelism.fsdp_reshard_after_forward";
    if (settings_.value(kReshard) == "default") {
      replace(kReshard, degree(kPipeline) > 1.0 ? "never" : "always");
    }
    constexpr const char* kRotate = "parallelism.context_parallel_rotate_method";
    if (degree(kContext) > 1.0 && settings_.value(kRotate) == "allgather") {
      tell(Severity::warning, kRotate,
           "keys and values gathered at once are not modelled; those that go round are predicted");
    }
    if (settings_.value(kRotate) == "allgather") replace(kRotate, "alltoall");
    constexpr const char* kRecipe = "quantize.linear.float8.recipe_name";
    if (settings_.value(kRecipe) == "rowwise_with_gw_hp") {
      tell(Severity::warning, kRecipe,
           "gradients of weights in 16 bits are not modelled; all products in fp8 are predicted");
      replace(kRecipe, "rowwise");
    }
    settle_torchtitan_schedule(settings_, diagnostics_);
  }

  /// In 16 bits by releases that take the word, which 0.2 does not.
  void settle_reductions(json& said) {
    constexpr const char* kReduce = "training.mixed_precision_reduce";
    if (settings_.value(kReduce) != "bfloat16") return;
    use({kReduce});
    said["gradient_precision"] = word_of(Precision::bf16);
  }

  void settle_sharding(json& said) const {
    const double context = degree(kContext);
    const double shards = degree(kShard);
    const double copies = degree(kReplicate);
    // Ranks that share a sequence are among those that share out parameters.
    if (shards * context > 1.0) said["zero_stage"] = 3;
    if (shards * context > 1.0 && copies > 1.0) {
      said["shard_group"] = static_cast<std::int64_t>(shards * context);
    }
    if (said.value("zero_stage", 0) < 3) said.erase("reshard_after_forward");
    said.erase("data_parallel");
    if (!request_.nodes) said["data_parallel"] = static_cast<std::int64_t>(replicas_);
  }

  void settle_batches(json& said) {
    use({kLocalBatch, kGlobalBatch, "parallelism.pipeline_parallel_microbatch_size"});
    const double local = degree(kLocalBatch);
    double micro = local;
    if (degree(kPipeline) > 1.0) {
      constexpr const char* kPasses = "parallelism.pipeline_parallel_microbatches";
      use({kPasses});  // of early releases: how many, not how large
      micro = settings_.has(kPasses) ? std::max(std::floor(local / degree(kPasses)), 1.0)
                                     : degree("parallelism.pipeline_parallel_microbatch_size");
    }
    const double at_once = local * replicas_;
    const double global = settings_.has(kGlobalBatch) ? degree(kGlobalBatch) : at_once;
    said["micro_batch"] = static_cast<std::int64_t>(micro);
    said["global_batch"] = static_cast<std::int64_t>(std::min(global, 1e15));
    if (degree(kPipeline) > 1.0 && global > at_once) {
      tell(Severity::warning, kGlobalBatch,
           fmt::format("the pipeline is filled {:g} times a step; once, with all of its "
                       "micro-batches, is predicted",
                       std::ceil(global / at_once)));
    }
  }

  /// Every so manieth layer of a part of the model.
  void settle_recomputation(json& said, double layers) {
    const std::string option = settings_.value(kOption);
    const auto every = settings_.number(kOption);
    if (settings_.value(kMode) != "selective") {
      if (said.contains("recompute")) use({kMode, kOption});
      return;
    }
    if (option == "op" || !every || *every < 1.0 || layers <= 0.0) return;
    use({kMode, kOption});
    const double chunks = degree(kPipeline) * said.value("virtual_stages", 1.0);
    const double recomputed = std::floor(std::ceil(layers / chunks) / std::floor(*every));
    if (recomputed < 1.0) return;
    said["recompute"] = "full";
    if (*every >= 2.0) said["recompute_layers"] = static_cast<std::int64_t>(recomputed);
  }

  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  GivenSettings settings_;
  std::optional<double> ranks_;
  std::optional<double> nodes_;
  double replicas_ = 1.0;
  std::set<std::string> used_;
  json strategy_;
};

}  // namespace

std::optional<json> import_torchtitan(const ImportRequest& request, Diagnostics& diagnostics) {
  return TorchtitanImport(request, diagnostics).made();
}

}  // namespace headway
