#include "calibrate/output/gemm_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>
#include <tuple>

#include "calibrate/measure/linear_fit.h"
#include "calibrate/measure/statistics.h"
#include "calibrate/output/held_out.h"
#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

/// 1 + w (q - 1) with q as in kernel_cost.h. One multiprocessor has no waves.
double quantisation_factor(const GemmShape& shape, int multiprocessors, double share) {
  if (multiprocessors <= 1) return 1.0;
  const double tiles = std::ceil(shape.m / 128.0) * std::ceil(shape.n / 256.0);
  const double waves = std::ceil(tiles / multiprocessors) * multiprocessors;
  const double q = std::min(8.0, waves * 128.0 * 256.0 / (shape.m * shape.n));
  return 1.0 + share * (q - 1.0);
}

std::vector<double> features(const GemmShape& shape, int multiprocessors, double share) {
  const double work = shape.flops() * quantisation_factor(shape, multiprocessors, share);
  return {work, work / shape.k, 1.0};
}

/// Rows of one precision that compute bounds: those that take at least twice their traffic's time.
std::vector<MeasuredGemm> arithmetic_rows(const std::vector<MeasuredGemm>& table,
                                          Precision precision, double memory_bytes_per_s) {
  std::vector<MeasuredGemm> all;
  std::vector<MeasuredGemm> bound_by_compute;
  for (const MeasuredGemm& row : table) {
    if (row.precision != precision) continue;
    all.push_back(row);
    const double traffic_s = gemm_traffic(row.shape, precision).count() / memory_bytes_per_s;
    if (row.time.count() >= 2.0 * traffic_s) bound_by_compute.push_back(row);
  }
  return bound_by_compute.size() < 4 ? all : bound_by_compute;
}

/// Those whose start is a small part of them; all where there are none.
std::vector<MeasuredGemm> large_products(const std::vector<MeasuredGemm>& rows) {
  constexpr double kLongInner = 1024.0;
  std::vector<MeasuredGemm> large;
  for (const MeasuredGemm& row : rows) {
    if (row.shape.k >= kLongInner) large.push_back(row);
  }
  return large.empty() ? rows : large;
}

struct Candidate {
  double quantisation = 0.0;
  std::vector<double> coefficients;
  std::vector<double> errors;
};

Candidate fit_with_quantisation(const std::vector<MeasuredGemm>& rows, int multiprocessors,
                                double share) {
  std::vector<Observation> observations;
  for (const MeasuredGemm& row : rows) {
    observations.push_back({features(row.shape, multiprocessors, share), row.time.count()});
  }
  Candidate candidate{share, non_negative_fit(observations), {}};
  for (const Observation& observation : observations) {
    candidate.errors.push_back(std::abs(
        fitted_value(candidate.coefficients, observation.features) / observation.value - 1.0));
  }
  return candidate;
}

/// The precision whose products the constants of all are fitted to: what layers are trained in,
/// where it has as many rows as any. Plain cores start and quantise otherwise than tensor cores.
Precision main_precision(const std::map<Precision, int>& rows_of) {
  const int most = std::ranges::max(rows_of | std::views::values);
  for (const Precision trained : {Precision::bf16, Precision::fp16}) {
    const auto rows = rows_of.find(trained);
    if (rows != rows_of.end() && rows->second == most) return trained;
  }
  return std::ranges::find(rows_of, most, &std::pair<const Precision, int>::second)->first;
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace

std::vector<MeasuredGemm> gemm_table(const std::vector<MeasuredPoint>& points) {
  using Key = std::tuple<Precision, double, double, double>;
  std::map<Key, std::vector<Measured>> by_shape;
  for (const MeasuredPoint& point : points) {
    const auto* gemm = std::get_if<GemmPoint>(&point.point);
    if (gemm == nullptr || gemm->block_scaled || gemm->accumulates) continue;
    const GemmShape& shape = gemm->shape;
    by_shape[{gemm->precision, shape.m, shape.n, shape.k}].push_back(point.measured);
  }
  std::vector<MeasuredGemm> table;
  for (const auto& [key, layouts] : by_shape) {
    const auto& [precision, m, n, k] = key;
    double sum = 0.0;
    double spread = 0.0;
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
    for (const Measured& layout : layouts) {
      sum += layout.time.count();
      spread = std::max(spread, layout.spread());
      least = std::min(least, layout.time.count());
      most = std::max(most, layout.time.count());
    }
    const double time = sum / static_cast<double>(layouts.size());
    spread = std::min(1.0, std::hypot(spread, (most - least) / 2.0 / time));
    table.push_back({{m, n, k}, precision, Seconds(time), spread});
  }
  return table;
}

GemmFit fitted_gemm(const std::vector<MeasuredGemm>& table, int multiprocessors,
                    double memory_bytes_per_s) {
  HEADWAY_CHECK(!table.empty(), "a fit of no products");
  std::map<Precision, int> rows_of;
  for (const MeasuredGemm& row : table) ++rows_of[row.precision];
  const Precision main = main_precision(rows_of);

  const auto rows = arithmetic_rows(table, main, memory_bytes_per_s);
  Candidate best = fit_with_quantisation(rows, multiprocessors, 0.0);
  for (int step = 1; multiprocessors > 1 && step <= 20; ++step) {
    Candidate candidate = fit_with_quantisation(rows, multiprocessors, step / 20.0);
    if (sum_of_squares(candidate.errors) < sum_of_squares(best.errors)) best = candidate;
  }
  GemmFit fit;
  const std::vector<double>& c = best.coefficients;
  fit.quantisation = best.quantisation;
  fit.overhead = c[2];
  fit.residual = relative_errors(best.errors);
  // A table of inner sizes so short that nothing grows with the work alone: the largest k's rate.
  double largest_k = 0.0;
  for (const MeasuredGemm& row : rows) largest_k = std::max(largest_k, row.shape.k);
  const double per_flop = c[0] > 0.0 ? c[0] : c[1] / largest_k;
  fit.inner_half = c[0] > 0.0 ? c[1] / c[0] : 0.0;
  for (const auto& [precision, count] : rows_of) {
    // The time of an operation that misses least of the products' own times, the start known: of
    // large products, as other cores start otherwise.
    double products = 0.0;
    double squares = 0.0;
    for (const MeasuredGemm& row :
         large_products(arithmetic_rows(table, precision, memory_bytes_per_s))) {
      const double time = row.time.count();
      const double work = row.shape.flops() *
                          quantisation_factor(row.shape, multiprocessors, fit.quantisation) *
                          (1.0 + fit.inner_half / row.shape.k) / time;
      products += work * (1.0 - fit.overhead / time);
      squares += work * work;
    }
    const double slope = squares > 0.0 ? std::max(0.0, products / squares) : 0.0;
    fit.rate[precision] = 1.0 / (precision == main || slope == 0.0 ? per_flop : slope);
  }
  return fit;
}

std::optional<FitError> held_out_gemm_error(const DeviceCosts& device) {
  constexpr std::size_t kStride = 4;
  return held_out_error(device, &DeviceCosts::gemm_table, kStride,
                        [](const DeviceCosts& rest, const MeasuredGemm& row) {
                          return gemm_cost(rest, row.shape, row.precision);
                        });
}

}  // namespace headway
