#pragma once

#include <cstddef>
#include <vector>

#include "calibrate/suite/point.h"

namespace headway {

/// Where a row-major matrix lies in a tensor: from element `offset` on, rows `leading` elements
/// apart, and of several matrices each `stride` elements after the one before.
struct MatrixPlace {
  std::size_t offset = 0;
  long leading = 0;
  long stride = 0;
};

/// c = scale * a b for each of `batch` matrices, of a shape and layout as in GemmPoint.
struct BlockProduct {
  GemmShape shape;
  GemmLayout layout = GemmLayout::nn;
  MatrixPlace a;
  MatrixPlace b;
  MatrixPlace c;
  int batch = 1;
  float scale = 1.0F;
};
/// One product of whole tensors, whose rows follow each other without gaps.
[[nodiscard]] BlockProduct whole_product(const GemmShape& shape, GemmLayout layout);

/// What runs the operations of a transformer block, or counts them: one after the other, though
/// perhaps later than the call.
class BlockDevice {
 public:
  using Tensor = std::size_t;  ///< one that this device made

  virtual ~BlockDevice() = default;
  /// The precision of products; what passes work on is as wide.
  [[nodiscard]] virtual Precision precision() const = 0;
  [[nodiscard]] virtual Tensor activation(const std::vector<float>& values) = 0;
  [[nodiscard]] virtual Tensor empty_activation(std::size_t elements) = 0;
  /// A weight with what the optimizer keeps of it.
  [[nodiscard]] virtual Tensor weight(const std::vector<float>& values) = 0;
  /// Where a product puts the gradient of a weight.
  [[nodiscard]] virtual Tensor gradient(Tensor weight) = 0;

  virtual void product(const BlockProduct& product, Tensor a, Tensor b, Tensor c) = 0;
  /// A kernel from x, and y where it has two inputs, to z; all of equal size. Rows have `row`
  /// elements.
  virtual void pass(MemoryKernel kernel, Tensor x, Tensor y, Tensor z, std::size_t row) = 0;
  /// Adam, from the gradient.
  virtual void update(Tensor weight) = 0;
  /// Until everything is done.
  virtual void finish() = 0;
  /// The values of an activation, a weight or a gradient, when everything is done.
  [[nodiscard]] virtual std::vector<float> values(Tensor tensor) = 0;
};

}  // namespace headway
