#pragma once

#include <cstdint>

#include "sim/base/words.h"

namespace headway {

/// Number formats of tensors and matrix products. `tf32` is stored in 4 bytes, `fp4` with a byte
/// of scale for each block of 16.
enum class Precision { fp32, tf32, fp16, bf16, fp8, fp4 };
template <>
inline constexpr Word<Precision> kWords<Precision>[] = {
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"fp16", Precision::fp16},
    {"bf16", Precision::bf16}, {"fp8", Precision::fp8},   {"fp4", Precision::fp4}};

[[nodiscard]] double bytes_per_element(Precision precision);

/// How tensors are scaled where they are quantised to less than 16 bits.
enum class Scaling {
  delayed,  ///< a scale a tensor, from earlier steps: one pass writes it and its transpose
  current,  ///< a scale a tensor, from its own largest value: two passes
  rowwise,  ///< a scale a row
  /// A scale for each 128 elements of a row, of weights for each 128 x 128 (DeepSeek-V3, 2024,
  /// arXiv:2412.19437, section 3.3.2).
  blockwise,
  mxfp8,  ///< a scale for each block of 32 (OCP microscaling)
  nvfp4   ///< 4 bits, a scale for each block of 16
};
/// Each names the products of inputs scaled like that.
template <>
inline constexpr Word<Scaling> kWords<Scaling>[] = {
    {"fp8", Scaling::delayed},         {"fp8_current", Scaling::current},
    {"fp8_rowwise", Scaling::rowwise}, {"fp8_blockwise", Scaling::blockwise},
    {"mxfp8", Scaling::mxfp8},         {"nvfp4", Scaling::nvfp4}};
[[nodiscard]] Precision precision_of(Scaling scaling);
/// Of an element of a quantised tensor, with its scales: one of a byte for 32 elements of MXFP8, of
/// fp32 for the 128 of a block; of 4-bit elements they are part of what an element takes.
[[nodiscard]] double bytes_per_element(Scaling scaling);

/// What a layer makes in a pass: its results, or the gradients of its inputs and weights.
enum class Pass { forward, backward };
template <>
inline constexpr Word<Pass> kWords<Pass>[] = {{"forward", Pass::forward},
                                              {"backward", Pass::backward}};

/// Operations of a pass of fused attention over those of the forward pass: backward 2.5, five
/// products where the forward pass has two (Dao, FlashAttention-2, 2023, section 3.1).
[[nodiscard]] constexpr double fused_operations(Pass pass) {
  return pass == Pass::forward ? 1.0 : 2.5;
}

/// A dense matrix product: [m x k] times [k x n].
struct GemmShape {
  double m = 0;
  double n = 0;
  double k = 0;
  [[nodiscard]] double flops() const { return 2.0 * m * n * k; }
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

/// The core of attention (scores, softmax, weighted sum; no projections) as one device runs it.
struct AttentionShape {
  double sequences = 0;     ///< independent sequences
  double query_length = 0;  ///< positions computed here
  double key_length = 0;  ///< positions attended to (more than query_length with context parallel)
  double query_heads = 0;
  double key_heads = 0;
  double head_size = 0;        ///< of queries and keys
  double value_head_size = 0;  ///< 0: as head_size
  bool causal = true;
  double window = 0;   ///< positions that each position attends to, itself included; 0: all
  bool sinks = false;  ///< a learned sink in each row of the softmax

  [[nodiscard]] double value_size() const {
    return value_head_size > 0 ? value_head_size : head_size;
  }

  /// Share of the causal half that a window leaves: rows attend to 1, 2, ... w positions, then to w
  /// each, w (s - w/2) of s^2/2 pairs. 1 without one.
  [[nodiscard]] double window_share() const {
    if (window <= 0 || window >= key_length) return 1.0;
    const double reach = window / key_length;
    return reach * (2.0 - reach);
  }

  /// As many keys as queries, values as wide as keys, nothing hidden but the future, no sinks.
  [[nodiscard]] bool is_plain() const {
    return query_length == key_length && value_size() == head_size && window_share() == 1.0 &&
           !sinks;
  }

  /// Forward operations: two products, halved where a mask hides the future, less what a window
  /// hides.
  [[nodiscard]] double forward_flops() const {
    return 2.0 * sequences * query_length * key_length * query_heads * (head_size + value_size()) *
           (causal ? 0.5 : 1.0) * window_share();
  }
  friend bool operator==(const AttentionShape&, const AttentionShape&) = default;
};

}  // namespace headway
