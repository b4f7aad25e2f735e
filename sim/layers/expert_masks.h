#pragma once

#include "sim/base/words.h"
#include "sim/layers/kernel_shape.h"

namespace headway {

struct ExpertRouting;
struct RankShape;

/// How tokens get to their places where experts have so many and no more.
enum class ExpertMasks {
  none,             ///< by their indices, as they would without a limit
  of_sequences,     ///< by products with one-hot masks, made for each sequence
  of_micro_batches  ///< the same, made for all tokens of a micro-batch that a rank has
};
template <>
inline constexpr Word<ExpertMasks> kWords<ExpertMasks>[] = {
    {"none", ExpertMasks::none},
    {"of_sequences", ExpertMasks::of_sequences},
    {"of_micro_batches", ExpertMasks::of_micro_batches}};

/// Masks of a layer on one rank: a group of tokens is put in places and back by products of its
/// masks [tokens x places] with rows of `width` (Lepikhin et al. 2020, arXiv:2006.16668, algorithm
/// 2 and section 3.2). Each expert has ceil(tokens x experts a token / experts) x capacity places.
///
/// Forward two products, backward three: gradients of the rows put in place, of those that come
/// back, and of the mask that weights them. Beside the products, which read and write a mask in 16
/// bits, kernels make masks and take their gradients apart. Their bytes of a token and place:
///
/// Of sequences, counted in MaxText (layers/moe.py, generate_masks) as a compiler merges it: weight
/// and truth are written (2 + 1), the truth is read and widened (1 + 2); backward the gradient is
/// read once (2).
///
/// Of micro-batches, counted in DeepSpeed (moe/sharded_moe.py, top2gating) kernel by kernel: fp32
/// weights of each choice are written (4), each further one is added (8 + 4), they are compared
/// (4 + 1), both masks are narrowed (1 + 2, 4 + 2); backward they are widened (2 + 4), and read for
/// each choice (4).
struct ExpertMaskShape {
  double groups = 0.0;  ///< on the rank, for a micro-batch; 0: there are no masks
  double tokens = 0.0;  ///< of a group
  double places = 0.0;  ///< of a group's tokens, on all experts
  double width = 0.0;
  double forward_bytes = 0.0;  ///< a token and place
  double backward_bytes = 0.0;

  /// Rows into their places, of one group; and back.
  [[nodiscard]] GemmShape dispatch() const { return {.m = places, .n = width, .k = tokens}; }
  [[nodiscard]] GemmShape combine() const { return {.m = tokens, .n = width, .k = places}; }
  [[nodiscard]] GemmShape mask_gradient() const { return {.m = tokens, .n = places, .k = width}; }
};
[[nodiscard]] ExpertMaskShape expert_mask_shape(const ExpertRouting& routing,
                                                const RankShape& shape);

}  // namespace headway
