#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/jobs/schedules/layer_placement.h"
#include "sim/launch/launch_job.h"
#include "sim/launch/megatron_refusals.h"

namespace headway {
namespace {

using nlohmann::json;

/// As many equal layers in a row: "t*4".
std::string run_of(char layer, int count) {
  if (count < 2) return std::string(static_cast<std::size_t>(count), layer);
  return fmt::format("{}*{}", layer, count);
}

/// "Et*3|(t*2|)*6t*2L": embedding, layers, loss; stages of the first virtual stage before those of
/// the second.
std::string layout_text(const std::vector<int>& layers, int prediction_layers) {
  std::string text = "E" + run_of('t', layers.front());
  for (std::size_t i = 1; i + 1 < layers.size();) {
    const auto first = layers.begin() + static_cast<std::ptrdiff_t>(i);
    const auto other = std::find_if(first, layers.end() - 1, [&](int n) { return n != *first; });
    const auto alike = static_cast<std::size_t>(other - first);
    const std::string stage = run_of('t', *first) + "|";
    text += (i == 1 ? "|" : "") + (alike == 1 ? stage : fmt::format("({})*{}", stage, alike));
    i += alike;
  }
  if (layers.size() == 2) text += "|";
  return text + run_of('t', layers.back()) + run_of('m', prediction_layers) + "L";
}

MegatronSettings settings_of(const JsonValue& scenario) {
  const json& strategy = scenario->at("strategy");
  const json& model = scenario->at("model");
  const auto layers = model.find("layers");
  return {.recomputes_all = strategy.value("recompute", "") == "full",
          .overlaps_gradient_reduce = strategy.value("overlap_gradient_reduce", false),
          .stages = strategy.value("pipeline_parallel", 1),
          .chunks = strategy.value("virtual_stages", 1),
          .captures_graphs = strategy.value("cuda_graph", "none") != "none",
          .offloads_all = layers != model.end() && strategy.contains("offload_layers") &&
                          strategy.at("offload_layers") == *layers};
}

/// Before Blackwell: of that and later generations Megatron-LM asks nothing.
bool is_before_blackwell(const json& node) {
  const auto name = node.value("accelerator", std::string());
  constexpr std::string_view kLater[] = {"b200",  "b300",     "gb200",
                                         "gb300", "rtx-5090", "rtx-pro-6000"};
  return std::ranges::none_of(kLater,
                              [&](std::string_view later) { return name.starts_with(later); });
}

}  // namespace

void leave_out_what_megatron_refuses(const JsonValue& scenario, FlagList& flags) {
  leave_out_refused(megatron_refusals(), settings_of(scenario), scenario->at("strategy"), flags);
}

void settle_megatron_layout(const JsonValue& scenario, FlagList& flags) {
  const json& strategy = scenario->at("strategy");
  const json& model = scenario->at("model");
  const int stages = strategy.at("pipeline_parallel").get<int>();
  const bool is_of_layers = model.contains("layers") && model.at("layers").is_number_integer();
  if (stages == 1 || !is_of_layers || strategy.value("schedule", "1f1b") != "1f1b") return;
  const int chunks = stages * strategy.value("virtual_stages", 1);
  const int layers = model.at("layers").get<int>();
  const int prediction_layers = model.value("multi_token_prediction_layers", 0);
  const LayerPlacement placement =
      value_named<LayerPlacement>(strategy.value("layer_placement", "even"))
          .value_or(LayerPlacement::even);
  const bool counts_ends = placement == LayerPlacement::embedding_and_loss_as_layers;
  const int counted = layers + (counts_ends ? 2 + prediction_layers : 0);
  const bool is_given = strategy.contains("layers_per_stage");
  const bool splits_itself = placement == LayerPlacement::even || counts_ends;
  if (!is_given && splits_itself && counted % chunks == 0) return;
  const std::vector<int> split =
      is_given ? strategy.at("layers_per_stage").get<std::vector<int>>()
               : layers_per_chunk(placement, layers, chunks, prediction_layers);
  constexpr std::string_view kReplaced[] = {"--num-virtual-stages-per-pipeline-rank",
                                            "--account-for-embedding-in-pipeline-split",
                                            "--account-for-loss-in-pipeline-split"};
  std::erase_if(flags.settings, [&](const std::string& setting) {
    return std::ranges::any_of(kReplaced,
                               [&](std::string_view flag) { return setting.starts_with(flag); });
  });
  std::erase_if(flags.unsaid, [](const UnsaidField& unsaid) {
    return unsaid.field == "layers_per_stage" || unsaid.field == "layer_placement";
  });
  const auto size = std::ranges::find_if(flags.settings, [](const std::string& setting) {
    return setting.starts_with("--pipeline-model-parallel-size");
  });
  const auto behind = size == flags.settings.end() ? size : size + 1;
  flags.settings.insert(behind, fmt::format("--pipeline-model-parallel-layout \"{}\"",
                                            layout_text(split, prediction_layers)));
}

std::string megatron_environment(const JsonValue& scenario) {
  const json& strategy = scenario->at("strategy");
  const bool splits_products = strategy.at("tensor_parallel").get<int>() > 1 ||
                               strategy.at("context_parallel").get<int>() > 1;
  const bool shards_gradients = strategy.value("zero_stage", 0) >= 2;  // Megatron-FSDP refuses it
  const bool overlaps_experts = strategy.value("expert_parallel", 1) > 1 &&
                                strategy.value("overlap_expert_exchange", false) &&
                                !megatron_refuses("overlap_expert_exchange", settings_of(scenario));
  const json& node = scenario->at("cluster").at("topology").at("node");
  if (!splits_products || shards_gradients || overlaps_experts || !is_before_blackwell(node)) {
    return "";
  }
  return "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
}

}  // namespace headway
