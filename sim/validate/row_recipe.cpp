#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/validate/row_fields.h"
#include "sim/validate/row_parts.h"

namespace headway {
namespace {

/// A model that a release's published recipes train on an accelerator without CUDA graphs.
struct Recipe {
  std::string_view framework;
  std::string_view release;
  std::string_view accelerator;
  std::string_view model;  ///< what a model's name begins with
  /// Tokens go once to a domain (DeepEP), while other micro-batches compute.
  bool overlaps_deduplicated_exchange;
};

// Source: NVIDIA-NeMo/Megatron-Bridge, scripts/performance/configs: qwen3/*.yaml ("cuda_graphs"),
// qwen3/workload_base_configs.py and deepseek/deepseek_llm_pretrain.py ("enable_deepep",
// set_moe_a2a_overlap_overrides), as they stood for these releases.
constexpr std::array kRecipes{
    Recipe{"megatron-bridge", "25.09", "H100", "DeepSeekV3", true},
    Recipe{"megatron-bridge", "25.11", "H100", "DeepSeekV3", true},
    Recipe{"megatron-bridge", "25.09", "H100", "Qwen3", false},
    Recipe{"megatron-bridge", "25.11", "H100", "Qwen3", false},
    Recipe{"megatron-bridge", "25.09", "B200", "DeepSeekV3", false},
    Recipe{"megatron-bridge", "25.09", "B200", "Qwen3_235B", false},
    Recipe{"megatron-bridge", "25.11", "B200", "Qwen3_235B", false},
};

const Recipe* recipe_of(const PublishedRow& row) {
  const auto* const found = std::ranges::find_if(kRecipes, [&](const Recipe& recipe) {
    return recipe.framework == row.head.framework && recipe.release == row.release &&
           recipe.accelerator == row.head.accelerator &&
           word(row.model, "name").starts_with(recipe.model);
  });
  return found == kRecipes.end() ? nullptr : found;
}

bool only_assumes_graphs(const PublishedRow& row) {
  return std::ranges::any_of(row.head.defaults_used, [](const std::string& said) {
    return said.find("CUDA-graph mode") != std::string::npos ||
           said.find("CUDA graphs assumed") != std::string::npos;
  });
}

}  // namespace

PublishedRow with_recipe(PublishedRow row, std::vector<std::string>& assumed) {
  const Recipe* const recipe = recipe_of(row);
  if (recipe == nullptr) return row;
  if (is_given(row.train, "cuda_graph") && only_assumes_graphs(row)) {
    row.train->erase("cuda_graph");
    assumed.emplace_back("no CUDA graphs, as in the recipe of the release");
  }
  if (recipe->overlaps_deduplicated_exchange && !is_given(row.train, "moe_dispatcher") &&
      !is_given(row.train, "moe_a2a_overlap")) {
    (*row.train)["moe_dispatcher"] = "deepep";
    (*row.train)["moe_a2a_overlap"] = true;
    assumed.emplace_back("DeepEP, overlapped, as in the recipe of the release");
  }
  return row;
}

}  // namespace headway
