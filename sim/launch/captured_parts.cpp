#include "sim/launch/captured_parts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "sim/base/join_words.h"

namespace headway {
namespace {

using nlohmann::json;

std::vector<std::string> recomputed_modules(const json& strategy) {
  const std::string recompute = strategy.value("recompute", "none");
  if (recompute == "selective") return {"core_attn"};
  if (recompute != "modules") return {};
  return strategy.value("recompute_modules", std::vector<std::string>());
}

}  // namespace

// What megatron/training/arguments.py (validate_args, "CUDA Graphs") and TransformerConfig assert
// What megatron/training/arguments.py (validate_args, "CUDA Graphs") and TransformerConfig assert
// of scopes, since there are several; which of them mixtures take: "dropless MoE" in
// Megatron-Bridge's docs/training/cuda-graphs.md.
std::string captured_parts(const JsonValue& scenario) {
  const json& strategy = scenario->at("strategy");
  const std::vector<std::string> recomputed = recomputed_modules(strategy);
  const auto keeps = [&](std::string_view module) {
    return std::ranges::find(recomputed, module) == recomputed.end();
  };
  std::vector<std::string> parts;
  if (keeps("core_attn") && keeps("mla_up_proj")) parts.emplace_back("attn");
  if (!scenario->at("model").contains("mixture_of_experts")) {
    if (keeps("mlp")) parts.emplace_back("mlp");
  } else if (keeps("moe") && keeps("shared_experts")) {
    parts.emplace_back("moe_router");
    // What is dropped beyond a capacity is counted on the host.
    if (!strategy.contains("expert_capacity_factor")) parts.emplace_back("moe_preprocess");
  }
  return join_words(parts, " ");
}

}  // namespace headway
