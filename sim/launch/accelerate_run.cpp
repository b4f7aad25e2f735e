#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/launch/launch_job.h"
#include "sim/launch/launched_model.h"

namespace headway {
namespace {

using nlohmann::json;

// accelerate: utils/fsdp_utils.py, fsdp2_prepare_model (weights of a model under mixed precision),
// and FullyShardedDataParallelPlugin.set_mixed_precision in utils/dataclasses.py (gradients).

/// Most bytes that an optimizer keeps of a weight of 16 bits alone: Adam's.
constexpr double kHalvesAlone = 4.0;
constexpr const char* kGradients = "gradient_precision";
/// Without it gradients of all parameters stay on every rank until the last pass (accelerate from
/// 1.11; before it FSDP2 reduced them in every pass, asked or not).
constexpr const char* kReduceEveryPass =
    "--accelerator_config '{\"gradient_accumulation_kwargs\": {\"sync_each_batch\": true}}'";

bool has_several_passes(const std::vector<std::string>& settings) {
  return std::ranges::any_of(settings, [](const std::string& setting) {
    return setting.starts_with("--gradient_accumulation_steps ") && !setting.ends_with(" 1");
  });
}

void leave_out(std::vector<std::string>& settings, std::string_view flag) {
  std::erase_if(settings, [&](const std::string& setting) { return setting.starts_with(flag); });
}

/// Where no class of layers has attention, what is gathered at once is told by its size: a few
/// convolutions, not the whole network (fsdp_min_num_params, 100 million unless told).
void wrap_by_size(std::vector<std::string>& settings) {
  std::ranges::replace(settings, "launch --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP",
                       "launch --fsdp_auto_wrap_policy SIZE_BASED_WRAP "
                       "--fsdp_min_num_params 1000000");
}

/// Weights that stay in 16 bits: under mixed precision it makes all of them fp32.
void keep_halves(std::vector<std::string>& settings) {
  leave_out(settings, "--bf16 ");
  std::ranges::replace(settings, "launch --mixed_precision bf16", "launch --mixed_precision no");
}

/// It reduces gradients in the format of its products, but for tf32, which is one of products
/// alone.
void settle_gradients(const json& strategy, FlagList& flags) {
  std::erase_if(flags.of_script,
                [](const UnsaidField& field) { return field.field == kGradients; });
  const std::string planned = strategy.value(kGradients, "");
  const std::string precision = strategy.value("precision", "");
  if (planned != (precision == "tf32" ? "fp32" : precision)) {
    flags.unsaid.push_back({kGradients, planned});
  }
}

}  // namespace

void settle_accelerate(const JsonValue& scenario, FlagList& flags,
                       std::vector<std::string>& remarks) {
  const json& strategy = scenario->at("strategy");
  const bool has_adapters = strategy.value("task", "") == "lora";
  const bool is_in_halves =
      strategy.value("memory", json::object()).value("optimizer_state_bytes", 100.0) <=
      kHalvesAlone;
  if (is_in_halves) {
    remarks.emplace_back("Weights are planned in bf16: load the model so (dtype bfloat16).");
  } else if (has_adapters && strategy.value("precision", "") == "bf16") {
    remarks.emplace_back("Frozen weights are planned in bf16: load the model so (dtype bfloat16).");
  }
  if (strategy.value("zero_stage", 0) != 3) return;
  leave_out(flags.settings, "--ddp_bucket_cap_mb ");
  if (!has_attention(scenario)) wrap_by_size(flags.settings);
  settle_gradients(strategy, flags);
  if (has_several_passes(flags.settings)) flags.settings.emplace_back(kReduceEveryPass);
  // fully_shard takes weights of one format only: adapters in fp32 need the others to be, too.
  if (has_adapters && strategy.value("lora_precision", "") == "fp32") {
    remarks.emplace_back(
        "Under FSDP with adapters in fp32 frozen weights are in fp32 as well: their shards take "
        "twice the memory that is planned.");
  } else if (is_in_halves) {
    keep_halves(flags.settings);
  }
}

}  // namespace headway
