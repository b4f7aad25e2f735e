#pragma once

#include "sim/layers/kernel_shape.h"

namespace headway {

/// Of two sequences that attend to themselves.
inline AttentionShape small_attention(double heads, double key_heads, double length,
                                      double head_size, bool causal) {
  return {.sequences = 2,
          .query_length = length,
          .key_length = length,
          .query_heads = heads,
          .key_heads = key_heads,
          .head_size = head_size,
          .causal = causal};
}

}  // namespace headway
