#pragma once

#include "sim/base/units.h"
#include "sim/costs/cost.h"
#include "sim/costs/profile.h"
#include "sim/layers/kernel_shape.h"
#include "sim/layers/work.h"

namespace headway {

/// Sums costs and how uncertain the sum is (parts err independently: squares add).
class CostSum {
 public:
  void add(const Cost& cost);
  [[nodiscard]] Seconds time() const { return time_; }
  [[nodiscard]] double variance() const { return variance_; }
  [[nodiscard]] bool extrapolated() const { return extrapolated_; }

 private:
  Seconds time_;
  double variance_ = 0.0;
  bool extrapolated_ = false;
};

/// Products of a backward pass with the matrices whose columns tensor-parallel ranks share out.
struct ColumnGradients {
  Seconds data;     ///< gradients of their inputs
  Seconds weights;  ///< gradients of the matrices
};

/// What the kernels of a layer take on one rank of nominal speed, in a micro-batch's passes.
struct WorkCost {
  CostSum forward;
  CostSum backward;
  Seconds weight_gradients;          ///< part of `backward`
  ColumnGradients column_gradients;  ///< part of `backward`
  Seconds attention_forward;         ///< part of `forward`
  Seconds tables_forward;            ///< part of `forward`: rows of tables looked up
  Seconds tables_backward;           ///< part of `backward`: and updated
  Seconds again;                     ///< what of `forward` is recomputed part by part
};

/// How they are run.
struct WorkKernels {
  const Profile& profile;
  const KernelFamily& family;
  Precision precision = Precision::bf16;  ///< of the products
  bool fused_attention = true;
  Scaling scaling = Scaling::delayed;  ///< of their inputs, below 16 bits
  RecomputeParts again = {};           ///< what the backward pass makes again
};

/// Requires a profile that knows experts where the layer has some.
[[nodiscard]] WorkCost work_cost(const Work& work, const WorkKernels& kernels);

/// What stays in 16 bits in every low-precision recipe: attention and the output head.
[[nodiscard]] Precision wide_precision(Precision precision);

}  // namespace headway
