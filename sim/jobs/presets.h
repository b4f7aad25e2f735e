#pragma once

#include <span>
#include <string_view>

#include "sim/jobs/strategy.h"

namespace headway {

/// How a framework trains where a scenario does not say otherwise. The parallel degrees, batches
/// and sequence length of `strategy` mean nothing: they are the scenario's.
struct Preset {
  std::string_view name;
  Strategy strategy;
  std::string_view source;
};

/// All presets. The first, "none", is the defaults of Strategy.
[[nodiscard]] std::span<const Preset> presets();

}  // namespace headway
