#pragma once

#include "sim/base/words.h"

namespace headway {

/// What the data-parallel ranks keep a part of (Rajbhandari et al. 2020), by the stage of ZeRO;
/// each includes those before.
enum class Sharding {
  none = 0,       ///< every rank keeps everything
  optimizer = 1,  ///< Megatron's distributed optimizer
  gradients = 2,  ///< gradients too, which are reduced and scattered every micro-batch
  full = 3        ///< FSDP: parameters are gathered layer by layer, gradients reduced likewise
};

/// What a rank that shares out the optimizer updates.
enum class OptimizerShards {
  slices,  ///< an equal part of everything: gradients are scattered, parameters gathered
  tensors  ///< whole tensors: gradients are all-reduced, each rank broadcasts what it updated
};
template <>
inline constexpr Word<OptimizerShards> kWords<OptimizerShards>[] = {
    {"slices", OptimizerShards::slices}, {"tensors", OptimizerShards::tensors}};

}  // namespace headway
