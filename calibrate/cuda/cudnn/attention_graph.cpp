#include "calibrate/cuda/cudnn/attention_graph.h"

#include <cmath>
#include <limits>

namespace headway {
namespace {

using Tensor = CudnnGraph::Tensor;

/// Builds what both passes share. The letters are the literature's: b sequences, h heads, s
/// positions, d elements of a head.
class Builder {
 public:
  explicit Builder(const AttentionShape& shape)
      : shape_(shape),
        b_(static_cast<std::int64_t>(shape.sequences)),
        h_(static_cast<std::int64_t>(shape.query_heads)),
        key_heads_(static_cast<std::int64_t>(shape.key_heads)),
        s_(static_cast<std::int64_t>(shape.query_length)),
        d_(static_cast<std::int64_t>(shape.head_size)),
        scale_(ops().scalar(static_cast<float>(1.0 / std::sqrt(shape.head_size)))) {}

  [[nodiscard]] AttentionGraph forward();
  [[nodiscard]] AttentionGraph backward();

 private:
  [[nodiscard]] CudnnGraph& ops() { return graph_.operations; }
  [[nodiscard]] TensorSizes scores() const { return {b_, h_, s_, s_}; }
  [[nodiscard]] TensorSizes rows() const { return {b_, h_, s_, 1}; }
  [[nodiscard]] bool shares_keys() const { return key_heads_ != h_; }
  [[nodiscard]] Tensor passing_scores() { return ops().passing(scores()); }

  Tensor keep(AttentionTensor tensor, const TensorSizes& sizes, const TensorSizes& strides,
              cudnnDataType_t type) {
    std::size_t bytes = type == CUDNN_DATA_BFLOAT16 ? 2 : 4;
    for (const std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
    graph_.stored.push_back({tensor, bytes});
    return ops().stored(static_cast<Tensor>(tensor), sizes, strides, type);
  }
  Tensor of_heads(AttentionTensor tensor, std::int64_t heads) {
    return keep(tensor, {b_, heads, s_, d_}, {s_ * heads * d_, d_, heads * d_, 1},
                CUDNN_DATA_BFLOAT16);
  }
  /// The same memory with positions and elements exchanged.
  Tensor transposed_of_heads(AttentionTensor tensor, std::int64_t heads) {
    return keep(tensor, {b_, heads, d_, s_}, {s_ * heads * d_, d_, 1, heads * d_},
                CUDNN_DATA_BFLOAT16);
  }
  Tensor of_rows(AttentionTensor tensor) {
    return keep(tensor, rows(), dense_strides(rows()), CUDNN_DATA_FLOAT);
  }
  Tensor scaled(Tensor x) {
    return ops().pointwise(CUDNN_POINTWISE_MUL, x, scale_, passing_scores());
  }
  Tensor masked(Tensor scores);
  Tensor transposed(Tensor scores);
  void multiply_into_key_heads(Tensor scores, Tensor other, AttentionTensor target);

  const AttentionShape& shape_;
  AttentionGraph graph_ = {};
  std::int64_t b_, h_, key_heads_, s_, d_;
  Tensor scale_;
};

/// Scores of the future as minus infinity, where attention is causal.
Tensor Builder::masked(Tensor scores_of) {
  if (!shape_.causal) return scores_of;
  const Tensor row = ops().position(scores_of, 2, ops().passing(scores(), CUDNN_DATA_INT32));
  const Tensor column = ops().position(scores_of, 3, ops().passing(scores(), CUDNN_DATA_INT32));
  const Tensor mask = ops().pointwise(CUDNN_POINTWISE_CMP_GE, row, column,
                                      ops().passing(scores(), CUDNN_DATA_BOOLEAN));
  const Tensor hidden = ops().scalar(-std::numeric_limits<float>::max());
  return ops().select(mask, scores_of, hidden, passing_scores());
}

/// In bf16, for the second product.
Tensor Builder::transposed(Tensor scores_of) {
  return ops().reshape(
      scores_of, ops().passing(scores(), {h_ * s_ * s_, s_ * s_, 1, s_}, CUDNN_DATA_BFLOAT16));
}

/// Heads that share keys are multiplied each for itself and added up.
void Builder::multiply_into_key_heads(Tensor scores_of, Tensor other, AttentionTensor target) {
  if (!shares_keys()) {
    ops().product(scores_of, other, of_heads(target, h_));
    return;
  }
  const Tensor each =
      ops().product(scores_of, other, ops().passing({b_, h_, s_, d_}, CUDNN_DATA_BFLOAT16));
  ops().reduce(CUDNN_REDUCE_TENSOR_ADD, each, of_heads(target, key_heads_));
}

AttentionGraph Builder::forward() {
  const Tensor q = of_heads(AttentionTensor::queries, h_);
  const Tensor k = transposed_of_heads(AttentionTensor::keys, key_heads_);
  const Tensor v = of_heads(AttentionTensor::values, key_heads_);
  const Tensor s = masked(scaled(ops().product(q, k, passing_scores())));

  // softmax(s) = exp(s - max) / sum of exp(s - max); the statistics are max + log of that sum
  const auto passing_rows = [this] { return ops().passing(rows()); };
  const Tensor most = ops().reduce(CUDNN_REDUCE_TENSOR_MAX, s, passing_rows());
  const Tensor shifted = ops().pointwise(CUDNN_POINTWISE_SUB, s, most, passing_scores());
  const Tensor power = ops().pointwise(CUDNN_POINTWISE_EXP, shifted, passing_scores());
  const Tensor sum = ops().reduce(CUDNN_REDUCE_TENSOR_ADD, power, passing_rows());
  const Tensor log_sum = ops().pointwise(CUDNN_POINTWISE_LOG, sum, passing_rows());
  ops().pointwise(CUDNN_POINTWISE_ADD, most, log_sum, of_rows(AttentionTensor::statistics));
  const Tensor share = ops().pointwise(CUDNN_POINTWISE_DIV, power, sum,
                                       ops().passing(scores(), CUDNN_DATA_BFLOAT16));
  ops().product(share, v, of_heads(AttentionTensor::result, h_));
  return std::move(graph_);
}

/// Dao et al., FlashAttention (arXiv:2205.14135), appendix B.2: with P = exp(S - statistics),
///   dV = P^T dO, dP = dO V^T, D = row sums of dO times O, dS = P (dP - D), dQ = dS K, dK = dS^T Q.
AttentionGraph Builder::backward() {
  const Tensor q = of_heads(AttentionTensor::queries, h_);
  const Tensor k = transposed_of_heads(AttentionTensor::keys, key_heads_);
  const Tensor v = transposed_of_heads(AttentionTensor::values, key_heads_);
  const Tensor o = of_heads(AttentionTensor::result, h_);
  const Tensor d_o = of_heads(AttentionTensor::result_gradient, h_);
  const Tensor statistics = of_rows(AttentionTensor::statistics);

  const Tensor weighted =
      ops().pointwise(CUDNN_POINTWISE_MUL, d_o, o, ops().passing({b_, h_, s_, d_}));
  const Tensor sums = ops().reduce(CUDNN_REDUCE_TENSOR_ADD, weighted, ops().passing(rows()));
  // The pattern has a factor here, which is dropout's; 1 without.
  const Tensor row_sums = ops().pointwise(CUDNN_POINTWISE_MUL, sums, ops().scalar(1.0F),
                                          of_rows(AttentionTensor::row_sums));

  const Tensor s = scaled(ops().product(q, k, passing_scores()));
  const Tensor shifted =
      masked(ops().pointwise(CUDNN_POINTWISE_SUB, s, statistics, passing_scores()));
  const Tensor p = ops().pointwise(CUDNN_POINTWISE_EXP, shifted, passing_scores());
  multiply_into_key_heads(transposed(p), d_o, AttentionTensor::value_gradient);

  const Tensor d_p = ops().product(d_o, v, passing_scores());
  const Tensor moved = ops().pointwise(CUDNN_POINTWISE_SUB, d_p, row_sums, passing_scores());
  const Tensor d_s = scaled(ops().pointwise(CUDNN_POINTWISE_MUL, moved, p, passing_scores()));
  multiply_into_key_heads(transposed(d_s), q, AttentionTensor::key_gradient);

  const TensorSizes sizes = {b_, h_, s_, d_};
  const Tensor straight_k = ops().reshape(
      k, ops().passing({b_, key_heads_, s_, d_}, {s_ * key_heads_ * d_, d_, key_heads_ * d_, 1},
                       CUDNN_DATA_BFLOAT16));
  const Tensor sum_q = ops().product(
      d_s, straight_k,
      keep(AttentionTensor::query_sums, sizes, dense_strides(sizes), CUDNN_DATA_FLOAT));
  ops().pointwise(CUDNN_POINTWISE_IDENTITY, sum_q, of_heads(AttentionTensor::query_gradient, h_));
  return std::move(graph_);
}

}  // namespace

AttentionGraph attention_forward_graph(const AttentionShape& shape) {
  return Builder(shape).forward();
}

AttentionGraph attention_backward_graph(const AttentionShape& shape) {
  return Builder(shape).backward();
}

}  // namespace headway
