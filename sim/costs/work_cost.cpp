#include "sim/costs/work_cost.h"

#include <algorithm>

#include "sim/costs/kernel_cost.h"
#include "sim/costs/spread.h"

namespace headway {
namespace {

class WorkCosts {
 public:
  explicit WorkCosts(const WorkKernels& kernels)
      : kernels_(kernels),
        device_(kernels.profile.device),
        wide_(wide_precision(kernels.precision)) {
    plain_.memory_traffic.value = 1.0;
  }

  [[nodiscard]] WorkCost of(const Work& work) && {
    for (const LinearWork& linear : work.linears) add(linear);
    for (const GroupedWork& grouped : work.grouped) add(grouped);
    if (work.permuted_elements > 0.0) add_permutation(work);
    if (work.masks.groups > 0.0) add_masks(work);
    if (bytes_per_element(kernels_.precision) < 2.0) {  // inputs are quantised in each pass
      costs_.forward.add(cast_cost(device_, cast_elements_, kernels_.scaling));
      costs_.backward.add(cast_cost(device_, cast_elements_, kernels_.scaling));
    }
    if (work.attention) add(*work.attention);
    for (const ActivationWork& product : work.activation_products) {
      const auto cost_of = [&](Flops flops, Pass pass) {
        return activation_product_cost(device_, kernels_.family, flops, product.inputs, pass);
      };
      add_forward(cost_of(product.forward, Pass::forward), product.again);
      costs_.backward.add(cost_of(product.backward, Pass::backward));
    }
    for (const ScanWork& scan : work.scans) {
      add_forward(scan_cost(device_, scan.forward, scan.forward_moved), scan.again);
      costs_.backward.add(scan_cost(device_, scan.backward, scan.backward_moved));
    }
    if (work.tables.forward > Bytes(0.0)) add_tables(work.tables);
    for (const PassWork& pass : work.passes) {
      const auto cost_of = [&](Bytes traffic, double rate) {
        return pass.merged ? memory_pass_cost(device_, kernels_.family, traffic)
                           : counted_pass_cost(device_, traffic / rate);
      };
      add_forward(cost_of(pass.forward, pass.forward_rate), pass.again);
      costs_.backward.add(cost_of(pass.backward, pass.backward_rate));
    }
    return costs_;
  }

 private:
  void add_forward(const Cost& cost, const Again& again) {
    costs_.forward.add(cost);
    costs_.again += again.share(kernels_.again) * cost.time;
  }

  /// Products of quantised inputs at the rate that the recipe's scales leave.
  [[nodiscard]] Cost in_recipe(Cost cost, Precision precision) const {
    const auto rate = device_.recipe_rate.find(kernels_.scaling);
    if (bytes_per_element(precision) >= 2.0 || rate == device_.recipe_rate.end()) return cost;
    cost.time = (1.0 / rate->second.value) * cost.time;
    cost.spread = combined_spread({cost.spread, rate->second.spread});
    return cost;
  }

  /// The cost of a product whose matrix has these sides in memory, none shorter than they let it
  /// be.
  [[nodiscard]] Cost aligned(const Cost& cost, const GemmShape& sides, const GemmShape& shape,
                             Precision kept) const {
    const double slowdown = misaligned_slowdown(kernels_.family, sides.n, sides.k, kept);
    if (slowdown == 1.0 || cost.status == CostStatus::exact) return cost;
    const double rate = device_.peak_flops.at(kept).value * device_.gemm_efficiency.at(kept).value;
    const Seconds least(slowdown * shape.flops() / rate);
    if (cost.time >= least) return cost;
    const double spread = kernels_.family.misaligned_product_factor.spread;
    return {least, cost.status, combined_spread({cost.spread, spread})};
  }

  void add(const LinearWork& linear) {
    const Precision kept = linear.wide ? wide_ : kernels_.precision;
    // Memory holds each element of a convolution once, and plain cores filter with fewer
    // multiplications.
    const auto [m, n, terms] = linear.forward;
    const double k = kept == Precision::fp32 ? terms / linear.filtering : terms;
    const double repeated = 1.0 - std::min(1.0, terms / (linear.reuse * k));
    const auto product = [&](const GemmShape& shape, double operand) {
      // What is summed over all positions of all samples is large in a benchmark as well.
      const GemmOperands operands{Bytes(repeated * operand * bytes_per_element(kept)),
                                  linear.splits_terms};
      return in_recipe(
          aligned(gemm_cost(device_, shape, kept, operands), linear.forward, shape, kept), kept);
    };
    const auto in_turns = [&](GemmShape shape) {
      shape.m /= linear.turns;
      Cost cost = product(shape, m * k / linear.turns);
      cost.time *= linear.turns;
      return cost;
    };
    add_forward(in_turns({m, n, k}), linear.again);
    if (linear.input_gradient) {
      const Cost data_gradient = in_turns({m, k, n});
      costs_.backward.add(data_gradient);
      if (linear.column_parallel) costs_.column_gradients.data += data_gradient.time;
    }
    if (!linear.frozen) {
      const GemmShape shape{n, k, m};
      const GemmShape split = linear.splits_terms ? split_product(device_, shape) : shape;
      const Cost weight_gradient = product(split, split.n * split.k);
      costs_.backward.add(weight_gradient);
      const Seconds adding = add_to_sum(linear.forward.n * linear.forward.k);
      costs_.weight_gradients += weight_gradient.time + adding;
      if (linear.column_parallel) {
        costs_.column_gradients.weights += weight_gradient.time + adding;
      }
    }
    cast_elements_ += linear.input_elements;
  }

  /// As many products, each by itself; in fp32 where the device has nothing less precise for it.
  [[nodiscard]] Cost one_by_one(double products, const GemmShape& shape, Precision wanted) const {
    const Precision precision = supports(device_, wanted) ? wanted : Precision::fp32;
    Cost cost = gemm_cost(device_, shape, supports(device_, precision) ? precision : wide_);
    cost.time = products * cost.time;
    return cost;
  }

  void add(const GroupedWork& grouped) {
    const auto [m, n, k] = grouped.forward;
    const auto cost_of = [&](const GemmShape& shape) {
      if (grouped.alone) return one_by_one(grouped.experts, shape, *grouped.alone);
      return in_recipe(grouped_gemm_cost(device_, *kernels_.profile.experts, shape, grouped.experts,
                                         m, kernels_.precision),
                       kernels_.precision);
    };
    add_forward(cost_of({m, n, k}), grouped.again);
    const Cost weight_gradient = cost_of({n, k, m});
    costs_.backward.add(cost_of({m, k, n}));
    costs_.backward.add(weight_gradient);
    const Seconds adding = add_to_sum(grouped.experts * n * k);
    costs_.weight_gradients += weight_gradient.time + adding;
    cast_elements_ += grouped.experts * m * k;
  }

  /// The gradient of so many weights is added to that of earlier micro-batches.
  Seconds add_to_sum(double weights) {
    const Estimate& bytes = device_.gradient_accumulation_bytes;
    if (bytes.value == 0.0) return {};
    Cost adding = memory_pass_cost(device_, plain_, Bytes(weights * bytes.value));
    adding.spread = combined_spread({adding.spread, bytes.spread});
    costs_.backward.add(adding);
    return adding.time;
  }

  /// Rows go to their experts, and come back; backward both gradients do.
  void add_permutation(const Work& work) {
    const auto cost_of = [&](double elements) {
      return permutation_cost(device_, kernels_.family, *kernels_.profile.experts, elements);
    };
    add_forward(cost_of(work.permuted_elements), work.permuted_again);
    costs_.backward.add(cost_of(2.0 * work.permuted_elements));
  }

  /// Masks are made and multiplied in 16 bits, one group after the other; each kernel moves the
  /// bytes that were counted.
  void add_masks(const Work& work) {
    const ExpertMaskShape& masks = work.masks;
    const auto product = [&](const GemmShape& shape) {
      Cost cost = gemm_cost(device_, shape, wide_);
      cost.time = masks.groups * cost.time;
      return cost;
    };
    const auto passes = [&](double bytes) {
      return counted_pass_cost(device_, Bytes(masks.groups * masks.tokens * masks.places * bytes));
    };
    for (const Cost& cost :
         {passes(masks.forward_bytes), product(masks.dispatch()), product(masks.combine())}) {
      add_forward(cost, work.permuted_again);
    }
    for (const Cost& cost : {passes(masks.backward_bytes), product(masks.combine()),
                             product(masks.dispatch()), product(masks.mask_gradient())}) {
      costs_.backward.add(cost);
    }
  }

  /// Kernels that keep no scores were measured with 16 bits; those of wider elements are no faster
  /// than their peak.
  [[nodiscard]] Cost within_peak(Cost cost, const AttentionShape& shape, Pass pass) const {
    if (bytes_per_element(wide_) <= 2.0 || !supports(device_, wide_)) return cost;
    const double operations = shape.forward_flops() * fused_operations(pass);
    cost.time = max(cost.time, Seconds(operations / device_.peak_flops.at(wide_).value));
    return cost;
  }

  void add(const AttentionWork& attention) {
    const auto cost_of = [&](Pass pass) {
      return kernels_.fused_attention
                 ? within_peak(
                       fused_attention_cost(device_, kernels_.family, attention.shape, pass),
                       attention.shape, pass)
                 : unfused_attention_cost(device_, kernels_.family, attention, pass, wide_);
    };
    const Cost forward = cost_of(Pass::forward);
    add_forward(forward, attention.again);
    costs_.attention_forward = forward.time;
    costs_.backward.add(cost_of(Pass::backward));
  }

  void add_tables(const PassWork& tables) {
    const Cost forward = gather_cost(device_, tables.forward);
    const Cost backward = gather_cost(device_, tables.backward);
    costs_.forward.add(forward);
    costs_.backward.add(backward);
    costs_.tables_forward = forward.time;
    costs_.tables_backward = backward.time;
  }

  const WorkKernels& kernels_;
  const DeviceCosts& device_;
  Precision wide_;
  KernelFamily plain_;  ///< what moves the bytes that are said
  WorkCost costs_;
  double cast_elements_ = 0.0;
};

}  // namespace

void CostSum::add(const Cost& cost) {
  time_ += cost.time;
  const double deviation = cost.time.count() * cost.spread;
  variance_ += deviation * deviation;
  extrapolated_ = extrapolated_ || cost.status == CostStatus::extrapolated;
}

Precision wide_precision(Precision precision) {
  return bytes_per_element(precision) < 2.0 ? Precision::bf16 : precision;
}

WorkCost work_cost(const Work& work, const WorkKernels& kernels) {
  return WorkCosts(kernels).of(work);
}

}  // namespace headway
