#pragma once

#include <string_view>

#include "sim/base/units.h"

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

}  // namespace headway
