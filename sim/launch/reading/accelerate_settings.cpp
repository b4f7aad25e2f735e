#include "sim/launch/reading/accelerate_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/base/letter_case.h"
#include "sim/launch/flag_table.h"

namespace headway {
namespace {

constexpr std::string_view kBlanksOfYaml = " \t\r";

/// What the Trainer's words for an optimizer are in the table (transformers/training_args.py,
/// OptimizerNames); the others of these families take as long.
constexpr std::array<std::string_view, 2> kSameOptimizers[] = {
    {"adamw_torch", "adamw_torch_fused"},      {"adamw_hf", "adamw_torch_fused"},
    {"adamw_apex_fused", "adamw_torch_fused"}, {"adamw_8bit", "adamw_bnb_8bit"},
    {"paged_adamw_8bit", "adamw_bnb_8bit"},    {"paged_adamw_32bit", "adamw_torch_fused"},
    {"paged_adamw", "adamw_torch_fused"},      {"paged_lion_32bit", "lion_32bit"}};

/// Settings that begin so are no matter of speed or memory, or none that the model of it knows.
constexpr std::string_view kNoMatterToAccelerate[] = {"launch --compute_environment",
                                                      "launch --config_file",
                                                      "launch --debug",
                                                      "launch --deepspeed_multinode",
                                                      "launch --distributed_type",
                                                      "launch --downcast_bf16",
                                                      "launch --dynamo_backend",
                                                      "launch --enable_cpu_affinity",
                                                      "launch --fsdp_auto_wrap_policy",
                                                      "launch --fsdp_backward_prefetch",
                                                      "launch --fsdp_cpu_ram",
                                                      "launch --fsdp_forward_prefetch",
                                                      "launch --fsdp_min_num_params",
                                                      "launch --fsdp_state_dict",
                                                      "launch --fsdp_sync_module",
                                                      "launch --fsdp_transformer_layer",
                                                      "launch --fsdp_use_orig",
                                                      "launch --gpu_ids",
                                                      "launch --machine_rank",
                                                      "launch --main_",
                                                      "launch --max_restarts",
                                                      "launch --monitor_interval",
                                                      "launch --multi_gpu",
                                                      "launch --num_cpu_threads",
                                                      "launch --rdzv",
                                                      "launch --role",
                                                      "launch --same_network",
                                                      "launch --tee",
                                                      "launch --tpu",
                                                      "launch --use_cpu",
                                                      "--accelerator_config",
                                                      "--adam_",
                                                      "--attn_implementation",
                                                      "--config_name",
                                                      "--data",
                                                      "--ddp_find_unused",
                                                      "--ddp_timeout",
                                                      "--do_",
                                                      "--eval",
                                                      "--gradient_checkpointing_kwargs",
                                                      "--group_by_length",
                                                      "--hub_",
                                                      "--label_",
                                                      "--learning_rate",
                                                      "--load_best",
                                                      "--log",
                                                      "--lora_alpha",
                                                      "--lora_dropout",
                                                      "--lr_",
                                                      "--max_eval_samples",
                                                      "--max_grad_norm",
                                                      "--max_steps",
                                                      "--max_train_samples",
                                                      "--model_name_or_path",
                                                      "--num_train_epochs",
                                                      "--output_dir",
                                                      "--overwrite_output",
                                                      "--per_device_eval",
                                                      "--preprocessing",
                                                      "--push_to_hub",
                                                      "--remove_unused",
                                                      "--report_to",
                                                      "--resume",
                                                      "--run_name",
                                                      "--save",
                                                      "--seed",
                                                      "--streaming",
                                                      "--tokenizer",
                                                      "--train_file",
                                                      "--trust_remote",
                                                      "--use_fast",
                                                      "--validation",
                                                      "--warmup",
                                                      "--weight_decay"};

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanksOfYaml), text.size()));
  const std::size_t last = text.find_last_not_of(kBlanksOfYaml);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// "'bf16'  # or fp16" as bf16.
std::string value_of_yaml(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text.front() == '\'' || text.front() == '"')) {
    return std::string(text.substr(1, text.find(text.front(), 1) - 1));
  }
  return std::string(trimmed(text.substr(0, text.find(" #"))));
}

std::string with_underscores(std::string flag) {
  const std::size_t name = std::min(flag.find_first_not_of('-'), flag.size());
  std::ranges::replace(flag.begin() + static_cast<std::ptrdiff_t>(name), flag.end(), '-', '_');
  return flag;
}

/// True and False of Python, and a flag alone.
void settle_truth(GivenSetting& setting) {
  if (setting.values.empty()) setting.values = {"true"};
  for (std::string& value : setting.values) {
    if (value == "True" || value == "False") value = lower_case(value);
  }
}

void replace_value(GivenSettings& settings, const char* name, std::string value) {
  const GivenSetting* const known = settings.find(name);
  settings.give({name, {std::move(value)}, known == nullptr ? SourceLocation{} : known->place});
}

void settle_precision(GivenSettings& settings) {
  constexpr const char* kMixed = "launch --mixed_precision";
  for (const char* precision : {"bf16", "fp16"}) {
    const std::string flag = std::string("--") + precision;
    if (settings.value(flag) == "true") settings.imply(kMixed, {precision});
    if (settings.value(kMixed) == precision) settings.imply(flag, {"true"});
  }
}

/// FSDP as the Trainer is told of it, and as versions before 2 are.
void settle_sharding_words(GivenSettings& settings) {
  const GivenSetting* const trainers = settings.find("--fsdp");
  if (trainers != nullptr && settings.value("--fsdp") != "false") {
    const GivenSetting given = *trainers;
    settings.give({"launch --use_fsdp", {"true"}, given.place});
    for (const std::string& word : given.values) {
      for (const char* strategy : {"full_shard", "shard_grad_op", "hybrid_shard", "no_shard"}) {
        if (word.find(strategy) == std::string::npos) continue;
        settings.give({"launch --fsdp_sharding_strategy", {strategy}, given.place});
      }
      if (word.find("offload") != std::string::npos) {
        settings.give({"launch --fsdp_offload_params", {"true"}, given.place});
      }
    }
    settings.forget("--fsdp");
  }
  if (lower_case(settings.value("launch --distributed_type")) == "fsdp") {
    settings.imply("launch --use_fsdp", {"true"});
  }
  if (settings.value("launch --use_fsdp") != "true") return;
  // The table asks for these three.
  settings.imply("launch --fsdp_version", {"1"});
  settings.imply("launch --fsdp_auto_wrap_policy", {"TRANSFORMER_BASED_WRAP"});
  constexpr const char* kReshard = "launch --fsdp_reshard_after_forward";
  constexpr std::array<std::string_view, 2> kNumbers[] = {
      {"1", "full_shard"}, {"2", "shard_grad_op"}, {"3", "no_shard"}, {"4", "hybrid_shard"}};
  std::string strategy = lower_case(settings.value("launch --fsdp_sharding_strategy"));
  if (strategy.empty()) strategy = lower_case(settings.value(kReshard));
  for (const auto& [number, word] : kNumbers) {
    if (strategy == number) strategy = word;
  }
  if (strategy == "true" || strategy == "false") return;
  if (!strategy.empty()) replace_value(settings, "launch --fsdp_sharding_strategy", strategy);
  replace_value(settings, kReshard, strategy == "shard_grad_op" ? "false" : "true");
}

}  // namespace

GivenSettings settings_of_accelerate(const std::string& file, const std::string& text,
                                     int lines_before) {
  GivenSettings settings;
  std::string_view rest = text;
  for (int line = lines_before + 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view content = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::string_view bare = trimmed(content);
    const std::size_t colon = bare.find(':');
    if (bare.empty() || bare.front() == '#' || bare.front() == '-') continue;
    if (colon == std::string_view::npos) continue;
    const std::string value = value_of_yaml(bare.substr(colon + 1));
    if (value.empty() || value == "{}" || value == "[]" || value == "null") continue;
    const auto indent = static_cast<int>(content.find_first_not_of(kBlanksOfYaml));
    GivenSetting setting{
        .flag = std::string(kOfLauncher) + "--" + std::string(trimmed(bare.substr(0, colon))),
        .values = {value},
        .place = {.file = file, .line = line, .column = indent + 1}};
    settle_truth(setting);
    settings.give(std::move(setting));
  }
  return settings;
}

bool is_accelerate_config(const std::string& text) {
  return text.find("distributed_type:") != std::string::npos &&
         text.find("accelerate launch") == std::string::npos;
}

GivenSettings accelerate_settings(const GivenSettings& config, const StartedJob& job) {
  GivenSettings settings = config;
  for (const auto& [flag, setting] : job.launcher.all()) {
    GivenSetting now = setting;
    now.flag = std::string(kOfLauncher) + with_underscores(flag);
    settle_truth(now);
    settings.give(std::move(now));
  }
  for (const auto& [flag, setting] : job.settings.all()) {
    GivenSetting now = setting;
    now.flag = with_underscores(flag);
    settle_truth(now);
    settings.give(std::move(now));
  }
  settle_precision(settings);
  settle_sharding_words(settings);
  for (const auto& [name, same] : kSameOptimizers) {
    if (settings.value("--optim") == name) replace_value(settings, "--optim", std::string(same));
  }
  return settings;
}

bool is_no_matter_to_accelerate(const GivenSetting& setting) {
  const std::string value = setting.values.size() == 1 ? lower_case(setting.values.front()) : "";
  if (value == "false" || value == "no" || value == "none") return true;
  return std::ranges::any_of(kNoMatterToAccelerate, [&](std::string_view beginning) {
    return setting.flag.starts_with(beginning);
  });
}

}  // namespace headway
