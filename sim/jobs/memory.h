#pragma once

#include <vector>

#include "sim/base/units.h"
#include "sim/jobs/stage_memory.h"
#include "sim/layers/model.h"

namespace headway {

struct Strategy;

/// Device context, kernel images and library workspaces of a PyTorch process, of which its
/// allocator knows nothing: 1008 MiB where they are all loaded at once, 300 to 400 MiB with lazy
/// loading (PyTorch issues 28394 and 107667).
inline constexpr Bytes kDeviceContext = 1_GiB;

/// Memory of every stage, in order. Model states: Rajbhandari et al. 2020 (mixed-precision Adam, 16
/// bytes a parameter, 18 with fp32 gradients, and what sharding over data * context ranks leaves of
/// it); activations: Korthikanti et al. 2022, equations 1 to 6, extended as
/// sim/models/transformer says; offloaded states: Ren et al. 2021 (ZeRO-Offload), section 3. Not
/// modelled: what other processes hold, CUDA graphs' own pools.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Model& model, const Strategy& strategy);

/// Activation bytes of one layer and one micro-batch, kept for the backward pass.
[[nodiscard]] Bytes layer_activation_bytes(const Layer& layer, const Strategy& strategy);

}  // namespace headway
