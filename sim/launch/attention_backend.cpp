#include "sim/launch/attention_backend.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace headway {
namespace {

using nlohmann::json;

/// Kernel families that run a device's fastest attention where the strategy says nothing
/// (calibrate/profiles/software/published.json: those without an attention_kernel); all others run
/// FlashAttention 2.
constexpr std::string_view kOfTheFastest[] = {"fused",  "hugectr", "jax",        "measured",
                                              "mlperf", "mxnet",   "nvidia-dlrm"};

/// Hopper and later: Transformer Engine prefers cuDNN there and FlashAttention 2 before
/// (get_attention_backend in transformer_engine/pytorch/attention/dot_product_attention/utils.py).
constexpr std::string_view kOfCudnn[] = {"h100",  "h200",     "h20",         "h800",
                                         "gh200", "b200",     "b300",        "gb200",
                                         "gb300", "rtx-5090", "rtx-pro-6000"};

bool is_fastest_of_cudnn(const json& node) {
  const auto name = node.value("accelerator", std::string());
  return std::ranges::any_of(kOfCudnn,
                             [&](std::string_view known) { return name.starts_with(known); });
}

bool is_fastest(const json& strategy) {
  const auto kernel = strategy.find("attention_kernel");
  if (kernel != strategy.end()) return *kernel == "fastest";
  return std::ranges::find(kOfTheFastest, strategy.value("kernel_family", "")) !=
         std::end(kOfTheFastest);
}

}  // namespace

std::string attention_kernel_word(const JsonValue& scenario) {
  const bool is_latent = scenario->at("model").contains("latent_attention");
  if (!is_fastest(scenario->at("strategy"))) {
    return is_latent ? "flash-2 of latent attention" : "flash";
  }
  const json& topology = scenario->at("cluster").at("topology");
  bool is_by_cudnn = is_latent || is_fastest_of_cudnn(topology.at("node"));
  for (const json& others : topology.value("other_nodes", json::array())) {
    is_by_cudnn = is_by_cudnn || is_fastest_of_cudnn(others.at("node"));
  }
  return is_by_cudnn ? "flash by cuDNN" : "flash";
}

}  // namespace headway
