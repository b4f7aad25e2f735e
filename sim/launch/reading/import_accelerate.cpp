#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim/import/import_format.h"
#include "sim/launch/reading/accelerate_settings.h"
#include "sim/launch/reading/job_model.h"
#include "sim/launch/reading/job_place.h"
#include "sim/launch/reading/started_config.h"
#include "sim/launch/reading/strategy_of_settings.h"
#include "sim/launch/reading/unread_settings.h"

namespace headway {

Importer import_accelerate;

namespace {

using nlohmann::json;

constexpr std::string_view kNamesOfYaml[] = {"--config-file"};
constexpr const char* kInHalves = "transformers-bf16";
// transformers/training_args.py; TRL's ModelConfig.
constexpr double kBatchOfTrainer = 8.0;
constexpr double kRankOfAdapters = 16.0;

class AccelerateImport {
 public:
  AccelerateImport(const ImportRequest& request, Diagnostics& diagnostics)
      : request_(request), diagnostics_(diagnostics) {}

  std::optional<json> made() {
    if (!read_settings()) return std::nullopt;
    const std::string name = named_model(request_, flags_, file(), diagnostics_);
    json cluster = job_cluster(request_, {.ranks = ranks_, .nodes = nodes_}, diagnostics_);
    if (diagnostics_.has_errors()) return std::nullopt;
    const JobModel model = job_model(name);
    // The table asks for the second version, of which the first differs in how it shards.
    const std::string version = settings_.value("launch --fsdp_version");
    if (version == "1") settings_.give({"launch --fsdp_version", {"2"}, {}});
    ToldStrategy told =
        strategy_of_settings(settings_, LaunchFramework::accelerate, used_, diagnostics_);
    const std::string weights = dtype_of_weights();
    const bool is_in_halves = weights == "bfloat16" || request_.preset == kInHalves;
    const std::string preset = !request_.preset.empty() ? request_.preset
                               : is_in_halves           ? kInHalves
                                                        : "transformers";
    const Framework* const software = framework_named(preset);
    if (is_in_halves && !told.said.contains("precision")) told.said["precision"] = "bf16";
    settle_sharding(told.said, version);
    settle_batches(told.said);
    if (!model.has_experts) told.said.erase("expert_precision");
    if (settings_.value("launch --fsdp_activation_checkpointing") == "true") {
      use({"launch --fsdp_activation_checkpointing"});
      told.said["recompute"] = "full";
    }
    settle_adapters(told.said);
    settle_sequence_length(request_, flags_, model, told.said, used_, diagnostics_);
    if (diagnostics_.has_errors()) return std::nullopt;
    json strategy =
        software == nullptr ? told.said : beside_preset(told, *software, model.has_experts);
    strategy["preset"] = preset;
    tell_unread(settings_, used_, is_no_matter_to_accelerate, diagnostics_);
    return job_scenario(request_, name, std::move(cluster), std::move(strategy));
  }

 private:
  static constexpr const char* kMicro = "--per_device_train_batch_size";
  static constexpr const char* kSteps = "--gradient_accumulation_steps";
  static constexpr const char* kStrategy = "launch --fsdp_sharding_strategy";

  void use(std::initializer_list<const char*> names) { used_.insert(names.begin(), names.end()); }
  [[nodiscard]] SourceLocation file() const { return {.file = request_.paths.front()}; }

  bool read_settings() {
    const auto config = read_started_config(request_.paths.front(), is_accelerate_config,
                                            kNamesOfYaml, diagnostics_);
    if (!config) return false;
    flags_ = config->job.settings;
    settings_ = accelerate_settings(
        settings_of_accelerate(config->file, config->text, config->lines_before), config->job);
    use({"launch --num_processes", "launch --num_machines"});
    ranks_ = settings_.number("launch --num_processes");
    nodes_ = settings_.number("launch --num_machines");
    const bool is_deepspeed = settings_.value("launch --distributed_type") == "DEEPSPEED" ||
                              settings_.has("launch --use_deepspeed") ||
                              settings_.has("--deepspeed");
    if (is_deepspeed) {
      diagnostics_.add({.message = "this job is one of DeepSpeed",
                        .location = file(),
                        .help = "`headway import deepspeed FILE` reads its configuration, or a "
                                "script whose --deepspeed names one"});
    }
    const bool is_any =
        !settings_.all().empty() &&
        (!config->text.empty() || settings_.has(kMicro) || settings_.has("launch --num_processes"));
    if (!is_any) {
      diagnostics_.add(
          {.message = "there is no job of accelerate in this",
           .location = file(),
           .help =
               "give a script that runs `accelerate launch`, or what `accelerate config` wrote"});
    }
    return !diagnostics_.has_errors();
  }

  [[nodiscard]] std::string dtype_of_weights() {
    for (const char* flag : {"--torch_dtype", "--dtype"}) {
      if (!settings_.has(flag)) continue;
      use({flag});
      return settings_.value(flag);
    }
    return "";
  }

  void settle_sharding(json& said, const std::string& version) {
    use({kStrategy, "launch --use_fsdp", "launch --fsdp_version",
         "launch --fsdp_reshard_after_forward"});
    if (said.value("zero_stage", 0) != 3) {
      said.erase("reshard_after_forward");
      return;
    }
    const std::string strategy = settings_.value(kStrategy);
    if (strategy == "no_shard") {
      said.erase("zero_stage");
      said.erase("reshard_after_forward");
    } else if (version == "1") {
      said["per_parameter_sharding"] = false;
    }
    if (strategy != "hybrid_shard" || !ranks_) return;
    // The ranks of a node share parameters.
    const auto each = job_ranks({.topology = request_.topology, .nodes = 1}, {}).value_or(*ranks_);
    if (each < *ranks_) said["shard_group"] = static_cast<std::int64_t>(each);
  }

  void settle_batches(json& said) {
    use({kMicro, kSteps});
    if (!settings_.has(kMicro)) {
      diagnostics_.add({.severity = Severity::warning,
                        .message = fmt::format("{} is not given; the Trainer's {:g} is taken",
                                               kMicro, kBatchOfTrainer),
                        .location = file()});
    }
    const double micro = std::max(settings_.number(kMicro).value_or(kBatchOfTrainer), 1.0);
    const double steps = std::max(settings_.number(kSteps).value_or(1.0), 1.0);
    const auto ranks = job_ranks(request_, {.ranks = ranks_, .nodes = nodes_});
    if (!ranks) return;  // which job_cluster tells
    said["micro_batch"] = static_cast<std::int64_t>(std::min(micro, 1e9));
    said["global_batch"] =
        static_cast<std::int64_t>(std::min(micro * steps * std::floor(*ranks), 1e15));
    if (!request_.nodes) said["data_parallel"] = static_cast<std::int64_t>(*ranks);
  }

  void settle_adapters(json& said) {
    const auto rank = settings_.number("--lora_r");
    if (settings_.value("--use_peft") != "true" && !rank) return;
    use({"--use_peft", "--lora_r"});
    said["task"] = "lora";
    said["lora_rank"] =
        static_cast<std::int64_t>(std::clamp(rank.value_or(kRankOfAdapters), 1.0, 1e6));
  }

  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  GivenSettings settings_;
  GivenSettings flags_;
  std::set<std::string> used_;
  std::optional<double> ranks_;
  std::optional<double> nodes_;
};

}  // namespace

std::optional<json> import_accelerate(const ImportRequest& request, Diagnostics& diagnostics) {
  return AccelerateImport(request, diagnostics).made();
}

}  // namespace headway
