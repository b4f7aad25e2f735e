#include "sim/launch/reading/deepspeed_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/base/letter_case.h"
#include "sim/files/json_document.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr const char* kAuto = "auto";

/// Flags of transformers' Trainer, and what "auto" in a configuration takes of them.
struct TrainerFlag {
  std::string_view flag;
  std::string_view setting;
};
constexpr TrainerFlag kTrainerFlags[] = {
    {"--per-device-train-batch-size", "train_micro_batch_size_per_gpu"},
    {"--gradient-accumulation-steps", "gradient_accumulation_steps"},
    {"--bf16", "bf16.enabled"},
    {"--fp16", "fp16.enabled"}};

/// Optimizers that are Adam, as the table has it unasked.
constexpr std::string_view kAdams[] = {"adam", "adamw", "fusedadam", "deepspeedcpuadam", "cpuadam"};

/// Settings that begin so are no matter of speed or memory, or none that the model of it knows.
constexpr std::string_view kNoMatterToDeepspeed[] = {
    "$schema",
    "activation_checkpointing.profile",
    "activation_checkpointing.synchronize",
    "aio.",
    "amp.opt_level",
    "autotuning.",
    "bf16.loss_scale",
    "checkpoint.",
    "comms_logger.",
    "csv_monitor.",
    "data_efficiency.",
    "disable_allgather",
    "dump_state",
    "flops_profiler.",
    "fp16.auto_cast",
    "fp16.consecutive_hysteresis",
    "fp16.hysteresis",
    "fp16.initial_scale",
    "fp16.loss_scale",
    "fp16.min_loss",
    "gradient_clipping",
    "gradient_predivide_factor",
    "load_universal_checkpoint",
    "memory_breakdown",
    "monitor_config.",
    "optimizer.params.",
    "prescale_gradients",
    "scheduler.",
    "seed",
    "steps_per_print",
    "tensorboard.",
    "wall_clock_breakdown",
    "wandb.",
    "zero_allow_untested_optimizer",
    "zero_force_ds_cpu_optimizer",
    "zero_optimization.allgather_",
    "zero_optimization.contiguous_gradients",
    "zero_optimization.cpu_offload_use_pin",
    "zero_optimization.elastic_checkpoint",
    "zero_optimization.gather_16bit",
    "zero_optimization.ignore_unused",
    "zero_optimization.load_from",
    "zero_optimization.offload_optimizer.buffer",
    "zero_optimization.offload_optimizer.fast_init",
    "zero_optimization.offload_optimizer.nvme_path",
    "zero_optimization.offload_optimizer.pin_memory",
    "zero_optimization.offload_param.buffer",
    "zero_optimization.offload_param.max_in_cpu",
    "zero_optimization.offload_param.nvme_path",
    "zero_optimization.offload_param.pin_memory",
    "zero_optimization.reduce_scatter",
    "zero_optimization.round_robin",
    "zero_optimization.stage3_gather",
    "zero_optimization.stage3_max_",
    "zero_optimization.stage3_param_persistence",
    "zero_optimization.stage3_prefetch",
    "zero_optimization.sub_group_size"};

std::string text_of(const json& value) {
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : unquoted_json(value);
}

/// With blanks in the place of comments, which its reader (Hjson) takes: what is behind "#" or "//"
/// in a line, and between "/*" and "*/".
std::string without_comments(std::string text) {
  std::size_t at = 0;
  bool is_text = false;
  while (at < text.size()) {
    const std::string_view here = std::string_view(text).substr(at, 2);
    std::size_t end = at;
    if (is_text) {
      if (here.front() == '\\') ++at;
      is_text = here.front() != '"';
    } else if (here.front() == '"') {
      is_text = true;
    } else if (here.front() == '#' || here == "//") {
      end = std::min(text.find('\n', at), text.size());
    } else if (here == "/*") {
      const std::size_t close = text.find("*/", at + 2);
      end = close == std::string::npos ? text.size() : close + 2;
    }
    if (end == at) ++at;
    for (; at < end; ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
  }
  return text;
}

class ConfigReader {
 public:
  ConfigReader(const JsonDocument& document, int lines_before)
      : document_(document), lines_before_(lines_before) {}

  GivenSettings read() && {
    read_object(document_.root(), "", "");
    return std::move(settings_);
  }

 private:
  void read_object(const json& object, const std::string& path, const std::string& pointer) {
    const auto switched = object.find("enabled");
    const bool is_off = switched != object.end() && *switched == false;
    for (const auto& [key, value] : object.items()) {
      if (is_off && key != "enabled") continue;  // says nothing then
      const std::string name = path + key;
      json::json_pointer step;
      step.push_back(key);
      const std::string place = pointer + step.to_string();
      if (value.is_object()) {
        read_object(value, name + ".", place);
        continue;
      }
      GivenSetting setting{.flag = name, .place = document_.value_location(place)};
      setting.place.line += lines_before_;
      if (value.is_array()) {
        for (const json& member : value) setting.values.push_back(text_of(member));
      } else {
        setting.values.push_back(text_of(value));
      }
      settings_.give(std::move(setting));
    }
  }

  const JsonDocument& document_;
  int lines_before_;
  GivenSettings settings_;
};

void replace(GivenSettings& settings, const std::string& name, std::string value) {
  const GivenSetting* const known = settings.find(name);
  settings.give({name, {std::move(value)}, known == nullptr ? SourceLocation{} : known->place});
}

}  // namespace

GivenSettings settings_of_deepspeed(const std::string& file, const std::string& text,
                                    int lines_before, Diagnostics& diagnostics) {
  Diagnostics found;
  const auto document = JsonDocument::parse(file, without_comments(text), found);
  for (Diagnostic problem : found.all()) {
    if (problem.location.line > 0) problem.location.line += lines_before;
    diagnostics.add(std::move(problem));
  }
  if (document == nullptr || diagnostics.has_errors()) return {};
  if (!document->root().is_object()) {
    diagnostics.add({.message = "a configuration of DeepSpeed is an object",
                     .location = {.file = file, .line = lines_before + 1, .column = 1}});
    return {};
  }
  return ConfigReader(*document, lines_before).read();
}

std::map<std::string, SourceLocation> settle_trainer(GivenSettings& settings,
                                                     const GivenSettings& flags) {
  std::map<std::string, SourceLocation> left;
  for (const auto& [name, setting] : settings.all()) {
    if (setting.values.size() == 1 && setting.values.front() == kAuto) left[name] = setting.place;
  }
  for (const auto& [name, place] : left) settings.forget(name);
  const bool says_precision = settings.has("bf16.enabled") || settings.has("fp16.enabled");
  for (const TrainerFlag& known : kTrainerFlags) {
    const std::string name(known.setting);
    const GivenSetting* const flag = flags.find(known.flag);
    if (flag == nullptr || settings.has(name)) continue;
    if (name.ends_with(".enabled") && says_precision) continue;
    GivenSetting setting = *flag;
    setting.flag = name;
    if (setting.values.empty()) setting.values = {"true"};
    setting.values.front() = setting.values.front() == "True"    ? "true"
                             : setting.values.front() == "False" ? "false"
                                                                 : setting.values.front();
    settings.give(std::move(setting));
    left.erase(name);
  }
  return left;
}

void settle_deepspeed_words(GivenSettings& settings) {
  // Before 0.3: "zero_optimization": true, and offloading as flags.
  if (settings.has("zero_optimization")) {
    const bool is_on = settings.value("zero_optimization") == "true";
    settings.give({"zero_optimization.stage",
                   {is_on ? "1" : "0"},
                   settings.find("zero_optimization")->place});
    settings.forget("zero_optimization");
  }
  constexpr const char* kDevice = "zero_optimization.offload_optimizer.device";
  if (settings.value("zero_optimization.cpu_offload") == "true") {
    settings.give({kDevice, {"cpu"}, settings.find("zero_optimization.cpu_offload")->place});
    settings.forget("zero_optimization.cpu_offload");
  }
  settings.imply("zero_optimization.stage", {"0"});
  const std::string stage = settings.value("zero_optimization.stage");
  settings.imply("zero_optimization.overlap_comm", {stage == "3" ? "true" : "false"});
  const std::string precision = settings.value("fp16.enabled") == "true"   ? "fp16"
                                : settings.value("bf16.enabled") == "true" ? "bf16"
                                                                           : "fp32";
  settings.imply("communication_data_type", {precision});
  // "bfp16", "fp16", "fp32" (runtime/constants.py).
  if (settings.value("communication_data_type") == "bfp16") {
    replace(settings, "communication_data_type", "bf16");
  }
  // What it is by itself is the preset's to say: in stage 3 layers are longer than that.
  constexpr double kOwnBucket = 5e8;
  constexpr const char* kBucket = "zero_optimization.reduce_bucket_size";
  if (stage == "3" && settings.number(kBucket) == kOwnBucket) settings.forget(kBucket);
  const std::string optimizer = lower_case(settings.value("optimizer.type"));
  if (std::ranges::find(kAdams, optimizer) != std::end(kAdams)) settings.forget("optimizer.type");
}

bool is_no_matter_to_deepspeed(const GivenSetting& setting) {
  const std::string value = setting.values.size() == 1 ? setting.values.front() : "";
  const bool is_off = setting.values.empty() || value == "false" || value == "none" ||
                      value == "null" || value == "None";
  return is_off || std::ranges::any_of(kNoMatterToDeepspeed, [&](std::string_view beginning) {
           return setting.flag.starts_with(beginning);
         });
}

}  // namespace headway
