#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/layers/kernel_shape.h"

namespace headway {

/// Attention and its gradients by their definitions, in fp64. Element d of head h at position s of
/// sequence b stands at ((b S + s) H + h) D + d.
struct AttentionReference {
  std::vector<double> result, query_gradient, key_gradient, value_gradient;
};

class ReferenceAttention {
 public:
  explicit ReferenceAttention(const AttentionShape& shape)
      : shape_(shape),
        length_(static_cast<std::size_t>(shape.query_length)),
        heads_(static_cast<std::size_t>(shape.query_heads)),
        key_heads_(static_cast<std::size_t>(shape.key_heads)),
        size_(static_cast<std::size_t>(shape.head_size)) {}

  [[nodiscard]] AttentionReference run(const std::vector<float>& q, const std::vector<float>& k,
                                       const std::vector<float>& v,
                                       const std::vector<float>& result_gradient) const {
    AttentionReference out;
    out.result.assign(q.size(), 0.0);
    out.query_gradient.assign(q.size(), 0.0);
    out.key_gradient.assign(k.size(), 0.0);
    out.value_gradient.assign(v.size(), 0.0);
    const auto sequences = static_cast<std::size_t>(shape_.sequences);
    for (std::size_t b = 0; b < sequences; ++b) {
      for (std::size_t h = 0; h < heads_; ++h) {
        for (std::size_t i = 0; i < length_; ++i) row(b, h, i, q, k, v, result_gradient, out);
      }
    }
    return out;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t b, std::size_t s, std::size_t h,
                               std::size_t heads) const {
    return ((b * length_ + s) * heads + h) * size_;
  }

  /// One row of scores: S_j = q . k_j / sqrt(D), P = softmax(S), o = sum P_j v_j, and with dP_j =
  /// do . v_j the gradient of the scores dS_j = P_j (dP_j - sum P dP).
  void row(std::size_t b, std::size_t h, std::size_t i, const std::vector<float>& q,
           const std::vector<float>& k, const std::vector<float>& v, const std::vector<float>& d_o,
           AttentionReference& out) const {
    const std::size_t mine = at(b, i, h, heads_);
    const std::size_t key_head = h * key_heads_ / heads_;
    const std::size_t seen = shape_.causal ? i + 1 : length_;
    const double scale = 1.0 / std::sqrt(shape_.head_size);
    std::vector<double> p(seen);
    std::vector<double> d_p(seen);
    for (std::size_t j = 0; j < seen; ++j) {
      const std::size_t theirs = at(b, j, key_head, key_heads_);
      for (std::size_t d = 0; d < size_; ++d) {
        p[j] += scale * q[mine + d] * k[theirs + d];
        d_p[j] += static_cast<double>(d_o[mine + d]) * v[theirs + d];
      }
    }
    const double most = *std::max_element(p.begin(), p.end());
    double sum = 0.0;
    for (double& share : p) sum += share = std::exp(share - most);
    double mean = 0.0;
    for (std::size_t j = 0; j < seen; ++j) mean += (p[j] /= sum) * d_p[j];
    for (std::size_t j = 0; j < seen; ++j) {
      const std::size_t theirs = at(b, j, key_head, key_heads_);
      const double d_s = scale * p[j] * (d_p[j] - mean);
      for (std::size_t d = 0; d < size_; ++d) {
        out.result[mine + d] += p[j] * v[theirs + d];
        out.value_gradient[theirs + d] += p[j] * d_o[mine + d];
        out.query_gradient[mine + d] += d_s * k[theirs + d];
        out.key_gradient[theirs + d] += d_s * q[mine + d];
      }
    }
  }

  AttentionShape shape_;
  std::size_t length_, heads_, key_heads_, size_;
};

}  // namespace headway
