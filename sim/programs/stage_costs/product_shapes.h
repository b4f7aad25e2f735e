#pragma once

#include <string>
#include <vector>

#include "sim/layers/kernel_shape.h"
#include "sim/layers/model.h"

namespace headway {

struct Strategy;

/// A matrix product that a rank of a job runs.
struct ProductShape {
  Precision precision = Precision::bf16;
  GemmShape shape;
  std::vector<std::string> uses;  ///< "qkv forward", "fc1 data gradient"
};

/// Every product whose cost a profile's table of products can tell, once each, in the order of the
/// layers' operators: those of the linear layers of each kind of layer, of the joins in front of
/// multi-token prediction layers and of the output head. Experts' grouped products are not among
/// them: their costs come from elsewhere. A size that degrees of parallelism do not divide is
/// rounded up.
[[nodiscard]] std::vector<ProductShape> product_shapes(const Model& model,
                                                       const Strategy& strategy);

}  // namespace headway
