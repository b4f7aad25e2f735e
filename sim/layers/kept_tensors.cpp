#include "sim/layers/kept_tensors.h"

#include <algorithm>

namespace headway {
namespace {

/// Positions in a row of scores, for each that `AttentionCore::keys` counts.
double most_attended(const AttentionCore& core, const RankShape& shape) {
  return core.block > 0.0 ? core.block : shape.sequence_length;
}

}  // namespace

Bytes kept_bytes(const KeptTensor& tensor, const Layer& layer, const RankShape& shape) {
  if (!shape.holds(tensor.when)) return Bytes(0.0);
  if (tensor.for_weights && !shape.needs_input(tensor.target)) return Bytes(0.0);
  const double parts = shape.parts(tensor.cut);
  const double share =
      tensor.pieces > 0.0 ? std::max(1.0, tensor.pieces / parts) / tensor.pieces : 1.0 / parts;
  const double attended = tensor.attended ? most_attended(*layer.attention, shape) : 1.0;
  const double placed = tensor.placed ? expert_mask_shape(*layer.routing, shape).places : 1.0;
  const Rows rows = tensor.gathered && shape.gathered_inputs ? Rows::tokens : tensor.rows;
  return Bytes(row_count(rows, layer, shape) * attended * placed * tensor.elements * share *
               shape.bytes(tensor.stored));
}

Bytes kept_bytes(const Layer& layer, const RankShape& shape, const RecomputeParts& again) {
  Bytes sum;
  for (const KeptTensor& tensor : layer.kept) {
    sum += (1.0 - tensor.again.share(again)) * kept_bytes(tensor, layer, shape);
  }
  return sum;
}

Bytes gradients_at_work(const Layer& layer, const RankShape& shape) {
  double most = 0.0;
  for (const Product& product : layer.products) {
    const double rows = row_count(product.rows, layer, shape) * product.rows_each;
    const double inputs =
        product.input_gradient ? inputs_on_rank(product, shape) / product.reuse : 0.0;
    const double sides = inputs + outputs_on_rank(product, shape);
    most = std::max(most, rows * sides * shape.element_bytes);
  }
  if (layer.attention && !shape.fused_attention) {
    constexpr double kInOneKernel = 4.0;  // of the probabilities and of the scores, 16 bits each
    constexpr double kInSeveralKernels =
        10.0;  // of the probabilities in 16 bits, then both in fp32
    // What the softmax gives back, copied, its view copied, and that masked: four, and the
    // softmax's result is gone.
    constexpr double kOfWideNumbers = 3.0 * 4.0;
    const AttentionCore& core = *layer.attention;
    const double scores = core.queries * shape.tokens() * core.keys * most_attended(core, shape) *
                          core.heads / shape.tensor_parallel;
    const double kernels = shape.fused_softmax ? kInOneKernel : kInSeveralKernels;
    most = std::max(most, scores * (shape.element_bytes < 4.0 ? kernels : kOfWideNumbers));
  }
  return input_bytes(layer, shape) + Bytes(most);
}

Bytes input_bytes(const Layer& layer, const RankShape& shape) {
  return Bytes(shape.residual_tokens() * layer.input * shape.element_bytes);
}

}  // namespace headway
