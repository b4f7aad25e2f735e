#pragma once

#include <array>
#include <cstdint>

#include "sim/layers/model.h"
#include "sim/layers/rank_shape.h"

namespace headway {

/// Parameters by what they are counted as. Exact as long as whole.
struct Parameters {
  std::array<double, kParts> by_part{};

  [[nodiscard]] double of(Part part) const { return by_part[static_cast<std::size_t>(part)]; }
  [[nodiscard]] double total() const;
  /// Those that every data- and context-parallel rank holds alike, those of routed experts, and of
  /// tables that ranks share out.
  [[nodiscard]] double experts() const { return of(Part::experts); }
  [[nodiscard]] double tables() const { return of(Part::tables); }
  [[nodiscard]] double shared() const { return total() - experts() - tables(); }
  Parameters& operator+=(const Parameters& other);
};
[[nodiscard]] Parameters operator*(double times, Parameters parameters);

/// Of the whole layer.
[[nodiscard]] Parameters parameters(const Layer& layer);

/// What one rank holds of it before data-parallel sharding. Tensor parallelism cuts what says so;
/// norms, biases added after a reduction, routers and what is narrow stand on every rank, and so do
/// key-value heads where there are fewer of them than ranks. Of tables that ranks share out, those
/// of the fullest. Degrees that do not divide give fractions.
[[nodiscard]] Parameters parameters_on_rank(const Layer& layer, const RankShape& shape);

/// Of a model, as publications count: once where two parts share a matrix, and without what looks
/// ahead.
[[nodiscard]] Parameters parameters(const Model& model);
[[nodiscard]] std::int64_t parameter_count(const Model& model);

/// Matrices among the parameters of the whole layer, tables included.
struct MatrixCount {
  double shared = 0.0;
  double experts = 0.0;  ///< of routed ones
};
[[nodiscard]] MatrixCount parameter_matrices(const Layer& layer);
/// Tensors that a layer's parameters are, but for routed experts and tables: matrices, their
/// biases, what norms have.
[[nodiscard]] double parameter_tensors(const Layer& layer);

/// Elements of the largest matrix that a rank holds of a layer: what an optimizer updates at once.
[[nodiscard]] double largest_tensor(const Model& model, const RankShape& shape);

/// Parameters of the matrix that embedding and head share where they are tied.
[[nodiscard]] double tied_parameters(const Model& model);

}  // namespace headway
