#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/layers/expert_masks.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/layer.h"
#include "sim/layers/rank_shape.h"

namespace headway {

/// A product on one rank: forward [m x k][k x n]; backward adds the data gradient [m x n][n x k]
/// and the weight gradient [n x m][m x k], each with its own shape (Narayanan et al. 2021).
struct LinearWork {
  std::string_view name;
  GemmShape forward;
  /// Elements of the input that one rank quantises in low precision: fewer than m k where
  /// sequence-parallel ranks gather the rest from each other as those have quantised it.
  double input_elements = 0;
  bool frozen = false;  ///< its weights are not trained: no weight gradient
  bool wide = false;    ///< stays in 16 bits where other products are in less
  /// Tensor-parallel ranks hold some of its columns each: all have the whole input, and the
  /// gradient of the input is a sum over them.
  bool column_parallel = false;
  bool input_gradient = true;  ///< something in front of it is trained
  bool splits_terms = false;   ///< as in Product; kernels of convolutions do
  double turns = 1.0;          ///< one after the other, of as many rows each
  double reuse = 1.0;          ///< as in Product
  double filtering = 1.0;      ///< as in Product
  std::optional<AdapterTarget> target = {};
  Again again = {};

  [[nodiscard]] GemmShape data_gradient() const { return {forward.m, forward.k, forward.n}; }
  [[nodiscard]] GemmShape weight_gradient() const { return {forward.n, forward.k, forward.m}; }
};

/// The same product for each of several experts on one rank, each with its own weights and tokens:
/// `forward` is that of one expert, tokens the mean over them.
struct GroupedWork {
  std::string_view name;
  double experts = 1;
  GemmShape forward;
  /// A precision of their own, in which they are not grouped: one runs after the other.
  std::optional<Precision> alone = {};
  Again again = {};
};

struct AttentionWork {
  AttentionShape shape;
  Again again = {};
  bool dropout = false;  ///< of the softmax's result
};

/// In each pass, all heads of a rank together.
struct ActivationWork {
  std::string_view name;
  Flops forward;
  Flops backward;
  double inputs = 1.0;  ///< terms of a sum
  Again again = {};
};

/// A scan of states in each pass, and what it moves meanwhile.
struct ScanWork {
  std::string_view name;
  Flops forward;
  Flops backward;
  Bytes forward_moved;
  Bytes backward_moved;
  Again again = {};
};

struct PassWork {
  std::string_view name;
  Bytes forward;
  Bytes backward;
  Again again = {};
  bool merged = true;  ///< as in MemoryPass
  double forward_rate = 1.0;
  double backward_rate = 1.0;
};

/// What one rank computes of a layer in a micro-batch, before anything is said of its cost. Names
/// live as long as the layer.
struct Work {
  std::vector<LinearWork> linears;
  std::vector<GroupedWork> grouped;
  std::optional<AttentionWork> attention;
  std::vector<ActivationWork> activation_products;
  std::vector<ScanWork> scans;
  std::vector<PassWork> passes;
  PassWork tables;  ///< what looking up and updating rows of tables moves
  /// Elements of the rows that are put in the order of the experts, and as many back: a row for
  /// each token and expert that the rank works on; 0 where masks put them there.
  double permuted_elements = 0;
  Again permuted_again = {};
  ExpertMaskShape masks = {};  ///< that put them there instead, made again with the rows
};

/// Adapters, where they alone are trained, included. Degrees that do not divide what they cut are
/// the strategy reader's business; here they give fractions.
///
/// A low-rank adapter (Hu et al. 2021, arXiv:2106.09685, section 4.1) stands beside a frozen matrix
/// [k x n] with A [k x r] and B [r x n]: the layer gives x W + (x A) B. Tensor-parallel ranks hold
/// 1/t of both, as NeMo's ParallelLinearAdapter cuts them; what it exchanges of the r-wide
/// intermediate result is not modelled. Adapters stay in 16 bits.
[[nodiscard]] Work work(const Layer& layer, const RankShape& shape, double adapter_rank = 0.0);

/// The matrices of a layer that adapters stand beside, in the order of the targets: of two streams
/// of rows each has its own. Requires a matrix for each target.
[[nodiscard]] std::vector<const Product*> adapted_products(
    const Layer& layer, const std::vector<AdapterTarget>& targets);

/// Parameters of one layer's adapters on one rank: r (k + n) / t for each target.
[[nodiscard]] double adapter_parameters_on_rank(const Layer& layer, const RankShape& shape,
                                                double adapter_rank);

}  // namespace headway
