#include "calibrate/output/attention_fit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/costs/kernel_cost.h"

namespace headway {

namespace {

/// One point: measured, by the rate of large products, and by the memory.
struct HeadProduct {
  Seconds measured;
  Seconds at_large_rate;
  Seconds moving;
};

HeadProduct head_product(const BatchedGemmPoint& batched, const Measured& measured,
                         const DeviceCosts& costs) {
  const Precision precision = batched.gemm.precision;
  const GemmShape& shape = batched.gemm.shape;
  const double elements = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
  return {.measured = measured.time,
          .at_large_rate =
              Seconds(batched.batch * shape.flops() / costs.peak_flops.at(precision).value /
                      costs.gemm_efficiency.at(precision).value),
          .moving = Seconds(batched.batch * elements * bytes_per_element(precision) /
                            costs.memory_bandwidth.value / costs.memory_efficiency.value)};
}

/// The share of large products' rate at which products of one head size take, all together, as long
/// as they were measured to.
std::optional<double> fitted_share(const std::vector<HeadProduct>& products) {
  HeadProduct sum{};
  for (const HeadProduct& product : products) {
    sum.measured += product.measured;
    sum.at_large_rate += product.at_large_rate;
    sum.moving += product.moving;
  }
  const auto multiplying = multiplying_time(sum.measured, sum.moving);
  if (!multiplying) return std::nullopt;
  return sum.at_large_rate / *multiplying;
}

/// The most that a product differs from what the share says.
double largest_residual(const std::vector<HeadProduct>& products, double share) {
  double most = 0.0;
  for (const HeadProduct& product : products) {
    const Seconds predicted = head_product_time(product.at_large_rate / share, product.moving);
    most = std::max(most, std::abs(predicted / product.measured - 1.0));
  }
  return most;
}

}  // namespace

std::optional<BatchedFit> fitted_batched(const std::vector<MeasuredPoint>& points,
                                         const DeviceCosts& costs) {
  std::map<double, std::vector<HeadProduct>> by_size;
  for (const MeasuredPoint& point : points) {
    const auto* batched = std::get_if<BatchedGemmPoint>(&point.point);
    if (batched == nullptr) continue;
    // Scores are as long as they are wide; the size of a head is the third side.
    const GemmShape& shape = batched->gemm.shape;
    by_size[std::min(shape.n, shape.k)].push_back(head_product(*batched, point.measured, costs));
  }
  if (by_size.empty()) return std::nullopt;
  const auto& [small, slow] = *by_size.begin();
  const auto& [large, fast] = *by_size.rbegin();
  const auto share = fitted_share(fast);
  if (!share) return std::nullopt;
  BatchedFit fit{.largest = {*share, largest_residual(fast, *share)}};
  if (const auto small_share = fitted_share(slow); small < large && small_share) {
    fit.head_exponent = std::log(*small_share / *share) / std::log(small / large);
  }
  return fit;
}

}  // namespace headway
