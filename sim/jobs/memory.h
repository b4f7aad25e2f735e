#pragma once

#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"

namespace headway {

/// What one accelerator of a pipeline stage holds at its fullest, by cause.
struct StageMemory {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer;
  Bytes activations;  ///< of all passes in flight
  /// The loss or the layer being recomputed, gathered parameters, gradients in transit,
  /// communicators, the device's context, and what the allocator reserves beyond use.
  Bytes buffers;
  /// In the host's memory for this accelerator: offloaded activations, optimizer states and the
  /// gradients that update them. Not part of the total.
  Bytes host;
  /// The part of the parameters that are weights of tables which ranks share out, and the part of
  /// the optimizer's that are their states: a step touches some of their rows only.
  Bytes table_weights;
  Bytes table_states;
  /// What the accelerator holds, the least of the stage's; 0 until somebody who knows it says so.
  Bytes capacity;
  [[nodiscard]] Bytes total() const {
    return parameters + gradients + optimizer + activations + buffers;
  }
};

/// What the total is made of, as pages name it.
struct MemoryPart {
  std::string_view name;
  Bytes StageMemory::*amount;
};
inline constexpr MemoryPart kMemoryParts[] = {{"parameters", &StageMemory::parameters},
                                              {"gradients", &StageMemory::gradients},
                                              {"optimizer", &StageMemory::optimizer},
                                              {"activations", &StageMemory::activations},
                                              {"buffers", &StageMemory::buffers}};

/// Memory of every stage, in order. Model states: Rajbhandari et al. 2020 (mixed-precision Adam, 16
/// bytes a parameter, 18 with fp32 gradients, and what sharding over data * context ranks leaves of
/// it); activations: Korthikanti et al. 2022, equations 1 to 6, extended as
/// sim/models/transformer says; offloaded states: Ren et al. 2021 (ZeRO-Offload), section 3. Not
/// modelled: what other processes hold, CUDA graphs' own pools, how much memory the host has.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Model& model, const Strategy& strategy);

/// Activation bytes of one layer and one micro-batch, kept for the backward pass.
[[nodiscard]] Bytes layer_activation_bytes(const Layer& layer, const Strategy& strategy);

}  // namespace headway
