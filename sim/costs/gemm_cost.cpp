#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/costs/gemm_formula.h"
#include "sim/costs/kernel_cost.h"
#include "sim/costs/table_correction.h"

namespace headway {
namespace {

/// Where a product stands among others. Those of the same m and n are divided into the same tiles
/// and waves, of which each takes longer with k as the formula says: another k tells more of a
/// product than another m or n as far away, where tiles fit otherwise.
LogSizes log_sizes(const GemmShape& shape) {
  constexpr double kInnerSize = 0.3;
  return {std::log(shape.m), std::log(shape.n), kInnerSize * std::log(shape.k)};
}

/// Nothing if the shape is outside of the table's range or far from all of it.
std::optional<Correction> correction(const DeviceCosts& device, const GemmShape& shape,
                                     Precision precision) {
  std::vector<MeasuredFactor> factors;
  for (const MeasuredGemm& measured : device.gemm_table) {
    if (measured.precision != precision) continue;
    const Seconds formula = gemm_formula_cost(device, measured.shape, precision).time;
    factors.push_back(
        {log_sizes(measured.shape), std::log(measured.time / formula), measured.spread});
  }
  return table_correction(log_sizes(shape), std::move(factors));
}

/// The largest sizes of the table, each by itself; 0 where it has none of the precision.
GemmShape largest_measured(const DeviceCosts& device, Precision precision) {
  GemmShape largest;
  for (const MeasuredGemm& measured : device.gemm_table) {
    if (measured.precision != precision) continue;
    largest = {std::max(largest.m, measured.shape.m), std::max(largest.n, measured.shape.n),
               std::max(largest.k, measured.shape.k)};
  }
  return largest;
}

Cost unbounded_cost(const DeviceCosts& device, const GemmShape& shape, Precision precision,
                    const GemmOperands& operands) {
  for (const MeasuredGemm& measured : device.gemm_table) {
    if (measured.precision == precision && measured.shape == shape) {
      return {measured.time, CostStatus::exact, measured.spread};
    }
  }
  Cost cost = gemm_formula_cost(device, shape, precision, operands);
  const GemmShape largest = largest_measured(device, precision);
  if (largest.flops() == 0.0) return cost;
  // Beyond the table a product grows by more of the tiles that its largest ones have.
  const GemmShape within{std::min(shape.m, largest.m), std::min(shape.n, largest.n),
                         std::min(shape.k, largest.k)};
  const auto known = correction(device, within, precision);
  if (known) {
    cost.time *= known->factor;
    cost.spread = known->spread;
  }
  if (!known || within != shape) cost.status = CostStatus::extrapolated;
  return cost;
}

/// How often pieces of so many elements have to be halved until a side is a whole number of them.
int halvings(double pieces, double side) {
  int count = 0;
  while (pieces > 1.0 && std::fmod(side, pieces) != 0.0) {
    pieces /= 2.0;
    ++count;
  }
  return count;
}

}  // namespace

Bytes gemm_traffic(const GemmShape& shape, Precision precision) {
  const double operand = bytes_per_element(precision);
  const double result = std::max(2.0, operand);
  return Bytes(operand * (shape.m * shape.k + shape.k * shape.n) + result * shape.m * shape.n);
}

Cost gemm_cost(const DeviceCosts& device, const GemmShape& shape, Precision precision,
               const GemmOperands& operands) {
  HEADWAY_CHECK(supports(device, precision), "a precision that the device does not have");
  HEADWAY_CHECK(std::min({shape.m, shape.n, shape.k}) >= 0.0, "a negative size");
  if (shape.flops() == 0.0) return {};

  Cost cost = unbounded_cost(device, shape, precision, operands);
  cost.time = max(cost.time, roofline_bound(device, Flops(shape.flops()), precision,
                                            gemm_traffic(shape, precision) - operands.shared));
  return cost;
}

double misaligned_slowdown(const KernelFamily& family, double outputs, double inputs,
                           Precision precision) {
  constexpr double kPieceBytes = 16.0;
  if (precision == Precision::fp32) return 1.0;
  const double pieces = kPieceBytes / bytes_per_element(precision);
  return std::pow(family.misaligned_product_factor.value,
                  std::max(halvings(pieces, outputs), halvings(pieces, inputs)));
}

}  // namespace headway
