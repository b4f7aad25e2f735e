#pragma once

#include <span>
#include <string_view>

namespace headway {

/// What of a job decides which of its settings Megatron-LM refuses.
struct MegatronSettings {
  bool recomputes_all = false;  ///< recompute "full"
  bool overlaps_gradient_reduce = false;
  int stages = 1;                ///< pipeline_parallel
  int chunks = 1;                ///< virtual_stages
  bool captures_graphs = false;  ///< any cuda_graph but "none"
  bool offloads_all = false;     ///< every layer is one of offload_layers
};

/// A setting with which it exits at its start, beside others.
struct MegatronRefusal {
  std::string_view flag;   ///< that asks for it
  std::string_view field;  ///< of the strategy
  std::string_view beside;
  bool (*is_refused)(const MegatronSettings& settings);
};

/// What megatron/training/arguments.py (core_r0.13) and TransformerConfig.__post_init__ of
/// megatron/core/transformer/transformer_config.py assert of a run, beside the flags themselves.
[[nodiscard]] std::span<const MegatronRefusal> megatron_refusals();

/// Whether it exits where that field of the strategy is asked for beside these settings.
[[nodiscard]] bool megatron_refuses(std::string_view field, const MegatronSettings& settings);

}  // namespace headway
