#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/jobs/schedules/schedule.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/row_parts.h"

namespace headway {
namespace {

// Source: the frameworks' defaults at the releases named in the rows. Megatron-LM's products of
// backward passes overlap since Korthikanti et al. 2022; InternEvo's configuration of its 7B model
// sets overlap_sync_grad and overlap_sync_param, and reduces in the training precision. Megatron-LM
// of 2023 (Jiang et al. 2024, section 6.1: commit 285068c8) has the kernels of 2022; it overlaps
// gradients since its release of 2024. GPT-NeoX is Megatron-LM under DeepSpeed (Biderman et al.
// 2023, section 2.2). NeMo AutoModel's table of mixtures says "TE + DeepEP" of each.
// TinyLlama's README lists FSDP and the fused kernels of flash-attention.
constexpr std::array kFrameworks{
    FrameworkHabits{"nemo", "fused", Precision::bf16, true, true},
    FrameworkHabits{"megatron-bridge", "fused", Precision::bf16, true, true},
    FrameworkHabits{"megatron-core-2024", "megatron-2022", Precision::fp32, false, true, "2023"},
    FrameworkHabits{"megatron-core-2024", "fused", Precision::fp32, true, true},
    FrameworkHabits{"nemo-mlperf", "mlperf", Precision::bf16, true, true},
    FrameworkHabits{"megatron-2020", "megatron-2021", Precision::fp32, false, false},
    FrameworkHabits{"megatron-2021", "megatron-2021", Precision::fp32, false, false},
    FrameworkHabits{"megatron-2022", "megatron-2022", Precision::fp32, false, true},
    FrameworkHabits{"megatron-deepspeed", "deepspeed", Precision::bf16, false, false},
    FrameworkHabits{"maxtext", "jax", Precision::bf16, true, false},
    FrameworkHabits{"composer-fsdp", "composer", Precision::bf16, true, false},
    FrameworkHabits{"fms-fsdp", "composer", Precision::bf16, true, false},
    FrameworkHabits{"torchtitan", "torch-eager", Precision::bf16, true, false, "eager"},
    FrameworkHabits{"torchtitan", "torch-compile", Precision::bf16, true, false},
    FrameworkHabits{"automodel", "fused", Precision::bf16, true, false, "", "", true},
    FrameworkHabits{"automodel", "torch-eager", Precision::bf16, true, false},
    // Single runs of software that has no family of its own.
    FrameworkHabits{"full_runs", "deepspeed", Precision::bf16, false, false, "", "(GPT-NeoX)"},
    FrameworkHabits{"misc_single_runs", "composer", Precision::bf16, true, false, "", "TinyLlama"},
    FrameworkHabits{"full_runs", "torch-eager", Precision::bf16, true, false},
    FrameworkHabits{"misc_single_runs", "torch-eager", Precision::bf16, true, false},
    FrameworkHabits{"aleph-alpha", "aleph-alpha-unfused-norm", Precision::fp32, false, false,
                    "fa2"},
    FrameworkHabits{"aleph-alpha", "aleph-alpha-flash-1", Precision::fp32, false, false, "fa1"},
    FrameworkHabits{"aleph-alpha", "aleph-alpha", Precision::fp32, false, false},
    FrameworkHabits{"internevo", "internevo", Precision::bf16, true, false},
};

/// What rows call a precision, and what strategies do.
struct PrecisionName {
  std::string_view row;
  std::string_view strategy;
};
constexpr std::array kPrecisions{
    PrecisionName{"bf16", "bf16"},
    PrecisionName{"fp16", "fp16"},
    PrecisionName{"fp8", "fp8"},
    PrecisionName{"fp8cs", "fp8_current"},
    PrecisionName{"fp8row", "fp8_rowwise"},
    PrecisionName{"mxfp8", "mxfp8"},
    PrecisionName{"nvfp4", "nvfp4"},
};

/// What rows call a task, and strategies too.
constexpr std::array<std::string_view, 3> kTasks = {"pretrain", "sft", "lora"};

/// What rows call ways to shard parameters.
constexpr std::array<std::string_view, 4> kShardings = {"none", "full", "grad_op", "hsdp"};

/// What rows call recomputation, and what strategies do.
struct RecomputeName {
  std::string_view row;
  std::string_view strategy;
};
constexpr std::array kRecomputes{RecomputeName{"none", "none"},
                                 RecomputeName{"selective", "selective"},
                                 RecomputeName{"full", "full"},
                                 RecomputeName{"half", "full"},
                                 RecomputeName{"sac", "every_second_product"},
                                 RecomputeName{"modules", "modules"}};

/// Empty if no strategy of ours has the row's precision.
std::string_view strategy_precision(const PublishedRow& row) {
  const std::string name = word(row.train, "precision");
  const auto* const found = std::ranges::find(kPrecisions, name, &PrecisionName::row);
  return found == kPrecisions.end() ? "" : found->strategy;
}

/// As profiles name it. What a release does to mixtures of experts is told apart.
std::string release_of(const PublishedRow& row) {
  if (row.release.empty()) return "";
  return row.head.framework + "-" + row.release + (is_given(row.model, "moe") ? "-experts" : "");
}

}  // namespace

const FrameworkHabits* habits_of(const PublishedRow& row) {
  const auto found = std::ranges::find_if(kFrameworks, [&](const FrameworkHabits& entry) {
    return entry.row == row.head.framework &&
           (entry.release.empty() || entry.release == row.release) &&
           word(row.model, "name").find(entry.model) != std::string::npos &&
           (!entry.deduplicates_experts || is_given(row.model, "moe"));
  });
  return found == kFrameworks.end() ? nullptr : &*found;
}

std::string uncovered_strategy(const PublishedRow& row) {
  if (std::ranges::find(kTasks, word(row.train, "task")) == kTasks.end()) {
    return "training task \"" + word(row.train, "task") + "\" is not modelled";
  }
  if (strategy_precision(row).empty()) {
    return "the " + word(row.train, "precision") + " recipe is not modelled";
  }
  const std::string recompute = word(row.train, "recompute");
  if (std::ranges::find(kRecomputes, recompute, &RecomputeName::row) == kRecomputes.end()) {
    return "recomputation of \"" + recompute + "\" is not modelled";
  }
  const std::string fsdp = word(row.train, "fsdp");
  if (std::ranges::find(kShardings, fsdp) == kShardings.end()) {
    return "FSDP mode \"" + fsdp + "\" is not modelled";
  }
  return "";
}

namespace {

/// Megatron-Bridge gives DeepSeek-V3 a layout of its own where that comes out; elsewhere the
/// embedding and the loss take the place of layers.
std::string_view placement_of_layers(const PublishedRow& row, std::int64_t layers,
                                     std::int64_t chunks) {
  const std::int64_t predictions = whole(row.model, "mtp_layers", 0);
  if (chunks > 1 && is_given(row.model, "mla") &&
      can_place(LayerPlacement::short_last_chunk, layers, chunks, predictions)) {
    return "short_last_chunk";
  }
  return layers % chunks == 0 ? "even" : "embedding_and_loss_as_layers";
}

std::string_view cuda_graph_of(const PublishedRow& row) {
  const std::string graph = word(row.train, "cuda_graph");
  if (graph == "full_iteration") return "full";
  return graph == "transformer_engine" || graph == "local" ? "layer" : "none";
}

/// Model releases name what they drop: "(tokendrop)" runs have a capacity of the mean.
void add_experts(nlohmann::json& strategy, const PublishedRow& row, const FrameworkHabits& habits,
                 std::vector<std::string>& assumed) {
  const nlohmann::json& train = row.train;
  const std::string dispatcher = word(train, "moe_dispatcher");
  strategy["expert_parallel"] = whole(train, "ep", 1);
  strategy["expert_tensor_parallel"] = whole(train, "etp", 1);
  strategy["expert_dispatch"] =
      dispatcher == "deepep" || dispatcher == "hybridep" || habits.deduplicates_experts
          ? "deduplicated"
          : "all_to_all";
  strategy["overlap_expert_exchange"] =
      is_true(train, "moe_a2a_overlap") && whole(train, "ep", 1) > 1;
  if (word(row.model, "name").find("tokendrop") != std::string::npos) {
    strategy["expert_capacity_factor"] = 1.0;
  }
  assumed.emplace_back("every expert gets as many tokens as the others");
}

}  // namespace

nlohmann::json row_strategy(const PublishedRow& row, const FrameworkHabits& habits,
                            std::vector<std::string>& assumed) {
  const nlohmann::json& train = row.train;
  const std::int64_t stages = whole(train, "pp", 1);
  const std::int64_t chunks = stages * whole(train, "vpp", 1);
  const std::int64_t layers = whole(row.model, "layers", 1);
  const bool tensor_parallel = whole(train, "tp", 1) > 1;
  const bool sequence_parallel = is_true(train, "sequence_parallel") && tensor_parallel;
  const bool tensor_overlap = is_true(train, "tp_overlap") && sequence_parallel;
  const bool sharded_optimizer = is_true(train, "distributed_optimizer");
  const std::string fsdp = word(train, "fsdp");
  const bool full_sharding = fsdp != "none";
  // Megatron-LM raises gradients to fp32 by itself for bf16 only (its megatron/arguments.py).
  const bool is_fp16 = strategy_precision(row) == "fp16";
  const std::string gradients(precision_name(is_fp16 ? Precision::fp16 : habits.gradients));
  assumed.push_back(fmt::format("gradients reduced in {}{}", gradients,
                                habits.overlaps ? ", overlapped with backward" : ""));
  nlohmann::json strategy = {
      {"tensor_parallel", whole(train, "tp", 1)},
      {"context_parallel", whole(train, "cp", 1)},
      {"pipeline_parallel", stages},
      {"data_parallel", whole(train, "dp", 1)},
      {"virtual_stages", whole(train, "vpp", 1)},
      {"layer_placement", placement_of_layers(row, layers, chunks)},
      {"micro_batch", train.at("micro_batch")},
      {"global_batch", train.at("global_batch")},
      {"sequence_parallel", sequence_parallel},
      {"tensor_parallel_overlap", tensor_overlap},
      {"overlap_tensor_parallel_backward",
       habits.overlaps_tensor_backward && tensor_parallel && !tensor_overlap},
      {"attention", is_true(train, "flash") ? "flash" : "unfused"},
      {"recompute",
       std::ranges::find(kRecomputes, word(train, "recompute"), &RecomputeName::row)->strategy},
      {"zero_stage", full_sharding ? 3 : (sharded_optimizer ? 1 : 0)},
      {"overlap_gradient_reduce", habits.overlaps},
      {"overlap_parameter_gather", habits.overlaps && (full_sharding || sharded_optimizer)},
      {"overlap_pipeline_transfers", habits.overlaps && whole(train, "vpp", 1) > 1},
      {"offload_layers", whole(train, "cpu_offload_layers", 0)},
      {"precision", strategy_precision(row)},
      {"gradient_precision", gradients},
      {"cuda_graph", cuda_graph_of(row)},
      {"task", train.at("task")},
      {"kernel_family", habits.kernel_family},
      {"software_release", release_of(row)}};
  if (word(train, "recompute") == "half") {
    strategy["recompute_layers"] = std::max<std::int64_t>(1, layers / chunks / 2);
  }
  if (word(train, "recompute") == "modules") {
    strategy["recompute_modules"] = train.value("recompute_modules", nlohmann::json::array());
  }
  if (full_sharding) {
    // PyTorch's trainers keep parameters gathered under a pipeline (torchtitan,
    // parallelize_llama.py: "default" is to reshard unless there is a pipeline; so does NeMo
    // AutoModel).
    strategy["reshard_after_forward"] = fsdp != "grad_op" && stages == 1;
  }
  if (fsdp == "hsdp") {
    const std::int64_t replicas = whole(train, "dp", 1) * whole(train, "cp", 1);
    strategy["shard_group"] =
        std::min(std::max<std::int64_t>(1, row.nvlink_domain / whole(train, "tp", 1)), replicas);
    assumed.emplace_back("parameters shared out inside a scale-up domain");
  }
  if (train.at("task") == "lora") {
    // NeMo's performance recipes of fine-tuning (llama3_8b.py, llama3_70b.py, llama31_405b.py).
    strategy["lora_rank"] = 8;
    strategy["lora_targets"] = {"qkv"};
    assumed.emplace_back("adapters of rank 8 on the QKV matrix");
  }
  if (train.at("task") != "pretrain") {
    assumed.emplace_back("documents of 0.4 of the sequence, packed");
  }
  if (is_given(row.model, "moe")) add_experts(strategy, row, habits, assumed);
  return strategy;
}

}  // namespace headway
