#include "sim/layers/kept_tensors.h"

#include <algorithm>

namespace headway {
namespace {

Bytes bytes_of(const KeptTensor& tensor, const Layer& layer, const RankShape& shape) {
  if (!shape.holds(tensor.when)) return Bytes(0.0);
  if (tensor.for_weights && !shape.needs_input(tensor.target)) return Bytes(0.0);
  const double parts = shape.parts(tensor.cut);
  const double share =
      tensor.pieces > 0.0 ? std::max(1.0, tensor.pieces / parts) / tensor.pieces : 1.0 / parts;
  const double attended = tensor.attended ? shape.sequence_length : 1.0;
  return Bytes(row_count(tensor.rows, layer, shape) * attended * tensor.elements * share *
               shape.bytes(tensor.stored));
}

}  // namespace

std::vector<KeptBytes> kept_tensors(const Layer& layer, const RankShape& shape) {
  std::vector<KeptBytes> tensors;
  for (const KeptTensor& tensor : layer.kept) {
    const Bytes bytes = bytes_of(tensor, layer, shape);
    if (bytes > Bytes(0.0)) tensors.push_back({tensor.name, bytes, tensor.again});
  }
  return tensors;
}

Bytes kept_bytes(const Layer& layer, const RankShape& shape, const RecomputeParts& again) {
  Bytes sum;
  for (const KeptTensor& tensor : layer.kept) {
    sum += (1.0 - tensor.again.share(again)) * bytes_of(tensor, layer, shape);
  }
  return sum;
}

Bytes input_bytes(const Layer& layer, const RankShape& shape) {
  return Bytes(shape.residual_tokens() * layer.input * shape.element_bytes);
}

}  // namespace headway
