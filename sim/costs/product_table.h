#pragma once

#include <array>
#include <vector>

#include "sim/layers/kernel_shape.h"

namespace headway {

/// Measured matrix products of one precision, as factors on the formula of gemm_cost at the nodes
/// of a grid of sizes.
struct ProductTable {
  /// m, n, k: each rising, at least two.
  std::array<std::vector<double>, 3> nodes;
  /// Logarithms of measured over formula; k runs fastest, then n. As many as there are nodes.
  std::vector<double> log_factors;
  double efficiency = 1.0;    ///< of the peak, that large products reach: where factors are about 1
  double quantisation = 0.0;  ///< share of the wave quantisation that the formula has beside them
  double spread = 0.0;        ///< of products that the table was not made from
};

/// The factor at that shape: linear in the logarithms between nodes, that of the edge beyond it.
[[nodiscard]] double product_factor(const ProductTable& table, const GemmShape& shape);

}  // namespace headway
