#pragma once

#include <cmath>
#include <cstddef>

#include "calibrate/block/block_device.h"
#include "calibrate/block/block_shape.h"

namespace headway {

/// Where attention finds the heads of one sequence: queries, keys and values side by side in the
/// rows of one tensor, scores by head, and the context with the heads side by side.
struct AttentionHeads {
  AttentionHeads(const BlockShape& shape, int sequence)
      : count(shape.heads),
        length(shape.sequence),
        size(static_cast<double>(shape.hidden) / shape.heads) {
    const long d = shape.hidden;
    const long s = shape.sequence;
    const long head = d / shape.heads;
    const auto first = static_cast<std::size_t>(sequence);
    const auto rows = first * static_cast<std::size_t>(s);
    const auto of_qkv = [&](std::size_t which) {
      return MatrixPlace{(3 * rows + which) * static_cast<std::size_t>(d), 3 * d, head};
    };
    query = of_qkv(0);
    key = of_qkv(1);
    value = of_qkv(2);
    score = {rows * static_cast<std::size_t>(shape.heads * s), s, s * s};
    context = {rows * static_cast<std::size_t>(d), d, head};
  }
  [[nodiscard]] BlockProduct to_scores(const MatrixPlace& a, const MatrixPlace& b,
                                       float scale) const {
    return {{length, length, size}, GemmLayout::nt, a, b, score, count, scale};
  }
  [[nodiscard]] BlockProduct from_scores(GemmLayout layout, const MatrixPlace& b,
                                         const MatrixPlace& c, float scale) const {
    return {{length, size, length}, layout, score, b, c, count, scale};
  }
  /// What scores are multiplied with (Vaswani et al. 2017, 3.2.1).
  [[nodiscard]] float scale() const { return static_cast<float>(1.0 / std::sqrt(size)); }

  int count;
  double length;
  double size;
  MatrixPlace query, key, value, score, context;
};

}  // namespace headway
