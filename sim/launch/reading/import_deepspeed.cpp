#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim/base/join_words.h"
#include "sim/base/letter_case.h"
#include "sim/base/utf8.h"
#include "sim/import/import_format.h"
#include "sim/jobs/optimizers.h"
#include "sim/launch/reading/deepspeed_settings.h"
#include "sim/launch/reading/job_model.h"
#include "sim/launch/reading/job_place.h"
#include "sim/launch/reading/started_config.h"
#include "sim/launch/reading/strategy_of_settings.h"
#include "sim/launch/reading/unread_settings.h"

namespace headway {

Importer import_deepspeed;

namespace {

using nlohmann::json;

constexpr std::string_view kNamesOfJson[] = {"--deepspeed", "--ds-config", "--deepspeed-config",
                                             "--deepspeed-config-file"};
constexpr double kMostBatch = 1e12;

bool is_object(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string::npos && text[first] == '{';
}

class DeepspeedImport {
 public:
  DeepspeedImport(const ImportRequest& request, Diagnostics& diagnostics)
      : request_(request), diagnostics_(diagnostics) {}

  std::optional<json> made() {
    if (!read_settings()) return std::nullopt;
    const std::string name =
        named_model(request_, flags_, {.file = request_.paths.front()}, diagnostics_);
    const JobModel model = name.empty() ? JobModel{} : job_model(name);
    settle_batches();
    json cluster = job_cluster(request_, {.ranks = ranks_, .nodes = nodes_}, diagnostics_);
    if (diagnostics_.has_errors()) return std::nullopt;
    settle_left(model);
    settle_deepspeed_words(settings_);
    settle_offloading();
    const std::string stage = settings_.value("zero_optimization.stage");
    ToldStrategy told =
        strategy_of_settings(settings_, LaunchFramework::deepspeed, used_, diagnostics_);
    used_.insert({"zero_optimization.overlap_comm", "bf16.enabled", "fp16.enabled"});
    const std::string preset = !request_.preset.empty() ? request_.preset
                               : stage == "2"           ? "deepspeed-zero-2"
                               : stage == "3"           ? "deepspeed-zero-3"
                                                        : "deepspeed-zero-1";
    const Framework* const software = framework_named(preset);
    settle_optimizer(told.said);
    settle_experts(told.said);
    settle_recomputation(told.said);
    settle_sequence_length(request_, flags_, model, told.said, used_, diagnostics_);
    if (!request_.nodes && replicas_ >= 1.0) {
      told.said["data_parallel"] = static_cast<std::int64_t>(replicas_);
    }
    if (diagnostics_.has_errors()) return std::nullopt;
    json strategy =
        software == nullptr ? told.said : beside_preset(told, *software, model.has_experts);
    strategy["preset"] = preset;
    tell_unread(settings_, used_, is_no_matter_to_deepspeed, diagnostics_);
    return job_scenario(request_, name, std::move(cluster), std::move(strategy));
  }

 private:
  static constexpr const char* kMicro = "train_micro_batch_size_per_gpu";
  static constexpr const char* kSteps = "gradient_accumulation_steps";
  static constexpr const char* kGlobal = "train_batch_size";

  bool read_settings() {
    const auto config =
        read_started_config(request_.paths.front(), is_object, kNamesOfJson, diagnostics_);
    if (!config) return false;
    if (config->text.empty()) {
      diagnostics_.add({.message = "there is no configuration of DeepSpeed in this",
                        .location = {.file = request_.paths.front()},
                        .help =
                            "give its JSON (ds_config.json), or a script that is started with one "
                            "(--deepspeed_config)"});
      return false;
    }
    flags_ = config->job.settings;
    settings_ =
        settings_of_deepspeed(config->file, config->text, config->lines_before, diagnostics_);
    if (diagnostics_.has_errors()) return false;
    left_ = settle_trainer(settings_, flags_);
    ranks_ = config->job.ranks;
    nodes_ = config->job.nodes;
    return true;
  }

  [[nodiscard]] std::optional<double> whole(const char* name) {
    const GivenSetting* const setting = settings_.find(name);
    if (setting == nullptr) return std::nullopt;
    const auto number = settings_.number(name);
    if (number && *number >= 1.0 && *number <= kMostBatch && *number == std::floor(*number)) {
      return number;
    }
    diagnostics_.add({.message = fmt::format("{} is a whole number from 1 up, not {}", name,
                                             in_quotes(settings_.value(name))),
                      .location = setting->place,
                      .help = help_for_variable(settings_.value(name))});
    return std::nullopt;
  }

  /// The global batch is the micro-batch, times the steps that accumulate, times the replicas: what
  /// is not said follows from the rest, as in DeepSpeed (runtime/config.py).
  void settle_batches() {
    const double split =
        std::max(settings_.number("tensor_parallel.autotp_size").value_or(1.0), 1.0);
    auto micro = whole(kMicro);
    auto steps = whole(kSteps);
    auto global = whole(kGlobal);
    if (diagnostics_.has_errors()) return;
    auto ranks = job_ranks(request_, {.ranks = ranks_, .nodes = nodes_});
    if (!ranks && micro && steps && global) ranks = ranks_ = *global / *micro / *steps * split;
    if (!ranks) return;  // which job_cluster tells
    replicas_ = std::floor(*ranks / split);
    if (!micro && !global) {
      const auto left = left_.find(kMicro);
      const bool is_left = left != left_.end();
      diagnostics_.add(
          {.message = fmt::format("{} is {}", kMicro,
                                  is_left ? "left to the training script (\"auto\")" : "not given"),
           .location = is_left ? left->second : SourceLocation{.file = request_.paths.front()},
           .help = "write the number into the file, or give the script whose command has "
                   "--per_device_train_batch_size"});
      return;
    }
    if (!micro) micro = *global / replicas_ / steps.value_or(1.0);
    if (!steps) steps = global ? *global / *micro / replicas_ : 1.0;
    if (!global) global = *micro * *steps * replicas_;
    const bool is_whole = *micro == std::floor(*micro) && *steps == std::floor(*steps);
    if (!is_whole || *micro * *steps * replicas_ != *global || *micro < 1.0) {
      diagnostics_.add(
          {.message = fmt::format("{} {:g} is not {} {:g} x {} {:g} x {:g} replicas", kGlobal,
                                  *global, kMicro, *micro, kSteps, *steps, replicas_),
           .location = settings_.has(kGlobal) ? settings_.find(kGlobal)->place
                                              : SourceLocation{.file = request_.paths.front()},
           .help = "DeepSpeed stops here too; the replicas are those of --nodes, or of the script "
                   "that starts the job"});
      return;
    }
    give(kMicro, *micro);
    give(kSteps, *steps);
    give(kGlobal, *global);
  }

  void give(const char* name, double value) {
    const GivenSetting* const known = settings_.find(name);
    settings_.give(
        {name, {fmt::format("{:.0f}", value)}, known == nullptr ? SourceLocation{} : known->place});
  }

  /// What is left to the Trainer and no flag of it says.
  void settle_left(const JobModel& model) {
    for (const char* name : {kMicro, kSteps, kGlobal}) left_.erase(name);
    // transformers/integrations/deepspeed.py.
    constexpr const char* kBucket = "zero_optimization.reduce_bucket_size";
    if (left_.erase(kBucket) > 0 && model.hidden > 0.0) give(kBucket, model.hidden * model.hidden);
    std::erase_if(left_, [](const auto& entry) {
      return is_no_matter_to_deepspeed({.flag = entry.first, .values = {"auto"}, .place = {}});
    });
    const bool is_precision_left = left_.contains("bf16.enabled") || left_.contains("fp16.enabled");
    if (is_precision_left && settings_.value("bf16.enabled") != "true" &&
        settings_.value("fp16.enabled") != "true") {
      const bool is_bf16 = left_.contains("bf16.enabled");
      settings_.give({is_bf16 ? "bf16.enabled" : "fp16.enabled", {"true"}, {}});
    } else {
      left_.erase("bf16.enabled");
      left_.erase("fp16.enabled");
    }
    if (left_.empty()) return;
    std::vector<std::string> names;
    for (const auto& [name, place] : left_) names.push_back(name);
    diagnostics_.add(
        {.severity = Severity::warning,
         .message =
             fmt::format("left to the training script (\"auto\"): {}", join_words(names, ", ")),
         .location = left_.begin()->second,
         .help =
             "16 bits are taken where it is a precision, elsewhere what DeepSpeed does unasked"});
  }

  void settle_offloading() {
    constexpr const char* kDevice = "zero_optimization.offload_optimizer.device";
    if (settings_.value(kDevice) != "nvme") return;
    const GivenSetting setting = *settings_.find(kDevice);
    diagnostics_.add(
        {.severity = Severity::warning,
         .message = "states on NVMe are not modelled; in host memory they are predicted",
         .location = setting.place});
    settings_.give({kDevice, {"cpu"}, setting.place});
  }

  void settle_optimizer(json& said) {
    const std::string name = lower_case(settings_.value("optimizer.type"));
    const auto known = optimizers();
    const auto found = std::ranges::find(known, name, &Optimizer::name);
    if (name.empty() || found == known.end()) return;  // which is told as not read
    used_.insert("optimizer.type");
    if (!said.contains("optimizer")) said["optimizer"] = found->name;
  }

  /// What splits the experts of models that know nothing of it (AutoEP).
  void settle_experts(json& said) {
    constexpr const char* kSize = "expert_parallel.autoep_size";
    if (settings_.value("expert_parallel.enabled") != "true" || !settings_.has(kSize)) return;
    used_.insert({kSize, "expert_parallel.enabled", "expert_parallel.preset_model"});
    if (const auto parts = whole(kSize)) {
      said["expert_parallel"] = static_cast<std::int64_t>(*parts);
    }
  }

  /// DeepSpeed's own says how layers are recomputed, the script whether they are.
  void settle_recomputation(json& said) {
    const std::string asked = lower_case(flags_.value("--gradient-checkpointing"));
    if (flags_.has("--gradient-checkpointing")) {
      if (asked != "false") said["recompute"] = "full";
      return;
    }
    SourceLocation place;
    for (const auto& [name, setting] : settings_.all()) {
      if (!name.starts_with("activation_checkpointing.") || setting.place.file.empty()) continue;
      if (place.file.empty() && !is_no_matter_to_deepspeed(setting)) place = setting.place;
    }
    if (place.file.empty()) return;
    said["recompute"] = "full";
    used_.insert("activation_checkpointing.number_checkpoints");
    used_.insert("activation_checkpointing.contiguous_memory_optimization");
    diagnostics_.add({.severity = Severity::warning,
                      .message = "activation_checkpointing is taken to mean that every layer is "
                                 "recomputed",
                      .location = place,
                      .help = "whether it is, the training script says: strategy.recompute"});
  }

  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  GivenSettings settings_;
  GivenSettings flags_;
  std::map<std::string, SourceLocation> left_;
  std::set<std::string> used_;
  std::optional<double> ranks_;
  std::optional<double> nodes_;
  double replicas_ = 0.0;
};

}  // namespace

std::optional<json> import_deepspeed(const ImportRequest& request, Diagnostics& diagnostics) {
  return DeepspeedImport(request, diagnostics).made();
}

}  // namespace headway
