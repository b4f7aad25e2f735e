#pragma once

#include "sim/base/words.h"

namespace headway {

/// What of the forward pass runs again in the backward pass, instead of being kept.
enum class Recompute {
  none,
  activation,  ///< the MLP's activation function only: one streaming pass gives its output again
  selective,   ///< the attention core only (Korthikanti et al. 2022, section 5)
  alternate,   ///< all but attention and every second product (PyTorch, by operator)
  modules,     ///< those that are named
  full         ///< whole layers from their input
};
template <>
inline constexpr Word<Recompute> kWords<Recompute>[] = {
    {"none", Recompute::none},           {"activation", Recompute::activation},
    {"selective", Recompute::selective}, {"every_second_product", Recompute::alternate},
    {"modules", Recompute::modules},     {"full", Recompute::full}};

}  // namespace headway
