#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/jobs/frameworks.h"
#include "sim/jobs/schedules/layer_placement.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/row_parts.h"

namespace headway {
namespace {

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
    PrecisionName{"fp8sc", "fp8_blockwise"},  // scales of sub-channels, as NeMo's recipes call them
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

/// All that it says holds of the row.
bool names(const PublishedAs& published, const PublishedRow& row) {
  return published.framework == row.head.framework &&
         (published.release.empty() || published.release == row.release) &&
         word(row.model, "name").find(published.model) != std::string::npos &&
         (!published.experts || is_given(row.model, "moe"));
}

/// nullptr if the framework has none for the row.
const FrameworkRecipe* recipe_of(const PublishedRow& row, const Framework& framework) {
  const auto found = std::ranges::find_if(framework.recipes, [&](const FrameworkRecipe& recipe) {
    return std::ranges::find(recipe.releases, row.release) != recipe.releases.end() &&
           recipe.accelerator == row.head.accelerator &&
           word(row.model, "name").starts_with(recipe.model) &&
           (recipe.task.empty() || recipe.task == word(row.train, "task"));
  });
  return found == framework.recipes.end() ? nullptr : &*found;
}

bool only_assumes_graphs(const PublishedRow& row) {
  return std::ranges::any_of(row.head.defaults_used, [](const std::string& said) {
    return said.find("CUDA-graph mode") != std::string::npos ||
           said.find("CUDA graphs assumed") != std::string::npos;
  });
}

/// As profiles name it. What a release does to mixtures of experts is told apart.
std::string release_of(const PublishedRow& row) {
  if (row.release.empty()) return "";
  return row.head.framework + "-" + row.release + (is_given(row.model, "moe") ? "-experts" : "");
}

}  // namespace

const Framework* framework_of(const PublishedRow& row) {
  const Framework* best = nullptr;
  int most = 0;
  for (const Framework& framework : frameworks()) {
    for (const PublishedAs& published : framework.published_as) {
      if (!names(published, row)) continue;
      const int said = 1 + (published.release.empty() ? 0 : 1) + (published.model.empty() ? 0 : 1) +
                       (published.experts ? 1 : 0);
      if (said <= most) continue;
      most = said;
      best = &framework;
    }
  }
  return best;
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

/// The fields of the recipe that the row leaves open.
nlohmann::json recipe_fields(const PublishedRow& row, const Framework& framework,
                             std::vector<std::string>& assumed) {
  nlohmann::json fields = nlohmann::json::object();
  const FrameworkRecipe* const recipe = recipe_of(row, framework);
  if (recipe == nullptr) return fields;
  const nlohmann::json& train = row.train;
  const auto take = [&](const char* field) {
    const auto found = recipe->strategy->find(field);
    if (found == recipe->strategy->end()) return false;
    fields[field] = *found;
    return true;
  };
  if (train.at("task") != "pretrain" && take("packed_length")) {
    assumed.emplace_back("sequences as long as in the published recipe");
  }
  if (take("memory")) {
    assumed.emplace_back("what is kept in memory as in the published recipe");
  }
  const bool says_graphs = is_given(train, "cuda_graph");
  if ((!says_graphs || only_assumes_graphs(row)) && take("cuda_graph") && says_graphs) {
    assumed.emplace_back("no CUDA graphs, as in the recipe of the release");
  }
  const bool says_exchange =
      is_given(train, "moe_dispatcher") || is_given(train, "moe_a2a_overlap");
  if (says_exchange || whole(train, "ep", 1) == 1) return fields;
  if (take("expert_dispatch") && take("overlap_expert_exchange")) {
    assumed.emplace_back("DeepEP, overlapped, as in the recipe of the release");
  }
  return fields;
}

std::int64_t chunks_of(const PublishedRow& row) {
  return whole(row.train, "pp", 1) * whole(row.train, "vpp", 1);
}

void add_recompute(nlohmann::json& strategy, const PublishedRow& row) {
  const nlohmann::json& train = row.train;
  const std::string recompute = word(train, "recompute");
  strategy["recompute"] = std::ranges::find(kRecomputes, recompute, &RecomputeName::row)->strategy;
  if (recompute == "half") {
    const std::int64_t layers = whole(row.model, "layers", 1);
    strategy["recompute_layers"] = std::max<std::int64_t>(1, layers / chunks_of(row) / 2);
  }
  if (recompute == "modules") {
    strategy["recompute_modules"] = train.value("recompute_modules", nlohmann::json::array());
  }
}

void add_sharding(nlohmann::json& strategy, const PublishedRow& row,
                  std::vector<std::string>& assumed) {
  const nlohmann::json& train = row.train;
  const bool sharded_optimizer = is_true(train, "distributed_optimizer");
  const std::string fsdp = word(train, "fsdp");
  const bool full_sharding = fsdp != "none";
  strategy["zero_stage"] = full_sharding ? 3 : (sharded_optimizer ? 1 : 0);
  if (full_sharding) {
    // PyTorch's trainers keep parameters gathered under a pipeline (torchtitan,
    // parallelize_llama.py: "default" is to reshard unless there is a pipeline; so does NeMo
    // AutoModel).
    strategy["reshard_after_forward"] = fsdp != "grad_op" && whole(train, "pp", 1) == 1;
  }
  if (fsdp == "hsdp") {
    const std::int64_t replicas = whole(train, "dp", 1) * whole(train, "cp", 1);
    strategy["shard_group"] =
        std::min(std::max<std::int64_t>(1, row.nvlink_domain / whole(train, "tp", 1)), replicas);
    assumed.emplace_back("parameters shared out inside a scale-up domain");
  }
  if (sharded_optimizer && is_given(train, "optimizer_shard_group")) {
    strategy["shard_group"] = train.at("optimizer_shard_group");
  }
}

/// Rows give a capacity, or their models name what they drop: "(tokendrop)" runs have a capacity of
/// the mean.
void add_experts(nlohmann::json& strategy, const PublishedRow& row, const Framework& framework,
                 std::vector<std::string>& assumed) {
  const nlohmann::json& train = row.train;
  const std::string dispatcher = word(train, "moe_dispatcher");
  const bool is_deduplicated = dispatcher == "deepep" || dispatcher == "hybridep";
  // Rows name a dispatcher that somebody chose; others have the one that the software always has.
  strategy["expert_dispatch"] =
      word_of(is_deduplicated ? ExpertDispatch::deduplicated : framework.strategy.expert_dispatch);
  strategy["overlap_expert_exchange"] =
      is_true(train, "moe_a2a_overlap") && whole(train, "ep", 1) > 1;
  if (word(row.model, "name").find("tokendrop") != std::string::npos) {
    strategy["expert_capacity_factor"] = 1.0;
  }
  if (is_given(train, "expert_capacity_factor")) {
    strategy["expert_capacity_factor"] = train.at("expert_capacity_factor");
  }
  assumed.emplace_back("every expert gets as many tokens as the others");
}

}  // namespace

nlohmann::json row_strategy_without_choices(const PublishedRow& row, const Framework& framework) {
  const nlohmann::json& train = row.train;
  const std::int64_t layers = whole(row.model, "layers", 1);
  nlohmann::json strategy = {{"preset", framework.name},
                             {"tensor_parallel", whole(train, "tp", 1)},
                             {"context_parallel", whole(train, "cp", 1)},
                             {"pipeline_parallel", whole(train, "pp", 1)},
                             {"data_parallel", whole(train, "dp", 1)},
                             {"virtual_stages", whole(train, "vpp", 1)},
                             {"layer_placement", placement_of_layers(row, layers, chunks_of(row))},
                             {"micro_batch", train.at("micro_batch")},
                             {"global_batch", train.at("global_batch")},
                             {"precision", strategy_precision(row)},
                             {"task", train.at("task")}};
  if (is_given(row.model, "moe")) {
    strategy["expert_parallel"] = whole(train, "ep", 1);
    strategy["expert_tensor_parallel"] = whole(train, "etp", 1);
  }
  return strategy;
}

nlohmann::json row_strategy(const PublishedRow& row, const Framework& framework,
                            std::vector<std::string>& assumed) {
  const nlohmann::json& train = row.train;
  const bool sequence_parallel = is_true(train, "sequence_parallel") && whole(train, "tp", 1) > 1;
  const bool tensor_overlap = is_true(train, "tp_overlap") && sequence_parallel;
  const Strategy& habits =
      framework.habits(strategy_precision(row) == "fp16" ? Precision::fp16 : Precision::bf16,
                       is_given(row.model, "moe"));
  assumed.push_back(
      fmt::format("gradients reduced in {}{}", word_of(habits.gradient_precision),
                  habits.overlap_gradient_reduce ? ", overlapped with backward" : ""));
  nlohmann::json strategy = {{"sequence_parallel", sequence_parallel},
                             {"tensor_parallel_overlap", tensor_overlap},
                             {"attention", is_true(train, "flash") ? "flash" : "unfused"},
                             {"offload_layers", whole(train, "cpu_offload_layers", 0)},
                             {"software_release", release_of(row)}};
  strategy.update(row_strategy_without_choices(row, framework));
  add_recompute(strategy, row);
  add_sharding(strategy, row, assumed);
  if (train.at("task") == "lora") {
    // NeMo's performance recipes of fine-tuning (llama3_8b.py, llama3_70b.py, llama31_405b.py).
    strategy["lora_rank"] = 8;
    strategy["lora_targets"] = {"qkv"};
    assumed.emplace_back("adapters of rank 8 on the QKV matrix");
  }
  strategy["cuda_graph"] = cuda_graph_of(row);
  if (is_given(row.model, "moe")) add_experts(strategy, row, framework, assumed);
  strategy.update(recipe_fields(row, framework, assumed));
  if (train.at("task") != "pretrain" && !strategy.contains("packed_length")) {
    assumed.emplace_back("documents of 0.4 of the sequence, packed");
  }
  return strategy;
}

}  // namespace headway
