#include "sim/costs/gemm_formula.h"

#include <algorithm>
#include <cmath>

#include "sim/costs/spread.h"

namespace headway {
namespace {

constexpr double kTileRows = 128.0;
constexpr double kTileColumns = 256.0;
/// Columns of a tile of plain cores, whose operands are needed at an eighth of the rate of tensor
/// cores: what cuBLAS calls sgemm_128x64.
constexpr double kPlainTileColumns = 64.0;
constexpr double kWorstQuantisation = 8.0;

/// What was measured on a machine had its constants fitted with one tile and one start for all.
bool has_fitted_constants(const DeviceCosts& device) { return !device.gemm_table.empty(); }

/// No wider than the result, in steps of 64.
double tile_columns(const DeviceCosts& device, const GemmShape& shape, Precision precision) {
  if (has_fitted_constants(device)) return kTileColumns;
  if (precision == Precision::fp32 || shape.n <= kPlainTileColumns) return kPlainTileColumns;
  return shape.n <= kTileColumns / 2.0 ? kTileColumns / 2.0 : kTileColumns;
}

/// How much more the multiprocessors work than the product needs, because tiles stand over its
/// edges and the last wave of them is not full. At least 1.
double quantisation(const DeviceCosts& device, const GemmShape& shape, Precision precision) {
  const double columns = tile_columns(device, shape, precision);
  const double tiles = std::ceil(shape.m / kTileRows) * std::ceil(shape.n / columns);
  const double waves = std::ceil(tiles / device.multiprocessors);
  const double q = waves * device.multiprocessors * kTileRows * columns / (shape.m * shape.n);
  return std::min(q, kWorstQuantisation);
}

/// What the start of a product is worth in wider numbers, as a share of the inner size that it is
/// worth in 16 bits: the start is a time, in which slower cores multiply less.
double start_share(const DeviceCosts& device, Precision precision) {
  if (has_fitted_constants(device)) return 1.0;
  for (const Precision narrow : {Precision::fp16, Precision::bf16}) {
    const auto peak = device.peak_flops.find(narrow);
    if (peak == device.peak_flops.end()) continue;
    return std::min(1.0, device.peak_flops.at(precision).value / peak->second.value);
  }
  return 1.0;
}

Cost measured_product(const DeviceCosts& device, const GemmShape& shape, Precision precision,
                      const ProductTable& table, const GemmOperands& operands) {
  const Estimate& peak = device.peak_flops.at(precision);
  const Estimate& efficiency = device.gemm_efficiency.at(precision);
  const double waves = 1.0 + table.quantisation * (quantisation(device, shape, precision) - 1.0);
  const double compute = shape.flops() / (peak.value * efficiency.value) * waves;
  const double streaming =
      (gemm_traffic(shape, precision) - operands.shared).count() / device.memory_bandwidth.value;
  const double measured = std::max(compute, streaming) * product_factor(table, shape);
  const double spread = compute >= streaming ? combined_spread({peak.spread, efficiency.spread})
                                             : device.memory_bandwidth.spread;
  const Estimate& cold = device.gemm_cold_operands;
  const double loading =
      cold.value * (operands.beyond_caches ? std::min(streaming, compute) : streaming);
  return {.time = Seconds(measured + loading),
          .status = CostStatus::interpolated,
          .spread = spread_of_sum(measured, combined_spread({spread, table.spread}), loading,
                                  combined_spread({device.memory_bandwidth.spread, cold.spread}))};
}

}  // namespace

GemmShape split_product(const DeviceCosts& device, const GemmShape& shape) {
  constexpr double kFewestTerms = 1024.0;
  const double rows_of_tiles =
      std::floor(device.multiprocessors / std::ceil(shape.n / kTileColumns));
  const double parts =
      std::floor(std::min(rows_of_tiles * kTileRows / shape.m, shape.k / kFewestTerms));
  return parts > 1.0 ? GemmShape{parts * shape.m, shape.n, shape.k / parts} : shape;
}

Cost gemm_formula_cost(const DeviceCosts& device, const GemmShape& shape, Precision precision,
                       const GemmOperands& operands) {
  const Estimate& peak = device.peak_flops.at(precision);
  const Estimate& efficiency = device.gemm_efficiency.at(precision);

  if (const auto table = device.products.find(precision); table != device.products.end()) {
    return measured_product(device, shape, precision, table->second, operands);
  }
  const double excess = quantisation(device, shape, precision) - 1.0;
  const double wave_term = device.gemm_quantisation.value * excess;
  const double start_term = start_share(device, precision) * device.gemm_inner_half.value / shape.k;
  const double compute =
      shape.flops() / (peak.value * efficiency.value) * (1.0 + wave_term) * (1.0 + start_term);
  const double compute_spread =
      combined_spread({peak.spread, efficiency.spread,
                       spread_of_one_plus(wave_term, device.gemm_quantisation.spread),
                       spread_of_one_plus(start_term, device.gemm_inner_half.spread)});

  const double streaming = (gemm_traffic(shape, precision) - operands.shared).count() /
                           (device.memory_bandwidth.value * device.memory_efficiency.value);
  const double streaming_spread =
      combined_spread({device.memory_bandwidth.spread, device.memory_efficiency.spread});

  const bool is_compute_bound = compute >= streaming;
  const double work = std::max(compute, streaming);
  const double overhead = device.gemm_overhead.value;
  return {.time = Seconds(work + overhead),
          .status = CostStatus::interpolated,
          .spread = spread_of_sum(work, is_compute_bound ? compute_spread : streaming_spread,
                                  overhead, device.gemm_overhead.spread)};
}

}  // namespace headway
