#pragma once

#include <span>
#include <string_view>

#include "sim/launch/refusals.h"

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

/// What megatron/training/arguments.py (core_r0.13) and TransformerConfig.__post_init__ of
/// megatron/core/transformer/transformer_config.py assert of a run, beside the flags themselves.
[[nodiscard]] std::span<const RefusedSetting<MegatronSettings>> megatron_refusals();

/// Whether it exits where that field of the strategy is asked for beside these settings.
[[nodiscard]] inline bool megatron_refuses(std::string_view field,
                                           const MegatronSettings& settings) {
  return refuses(megatron_refusals(), field, settings);
}

}  // namespace headway
