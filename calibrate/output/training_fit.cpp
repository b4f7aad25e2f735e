#include "calibrate/output/training_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

struct Pair {
  const GemmPoint* special;
  double special_s;
  double plain_s;
};

/// Products that `is_special`, each with the plain one of its shape, precision and layout.
template <class IsSpecial>
std::vector<Pair> pairs(const std::vector<MeasuredPoint>& points, IsSpecial is_special) {
  const auto is_plain = [](const GemmPoint& gemm) {
    return !gemm.block_scaled && !gemm.accumulates;
  };
  std::vector<Pair> found;
  for (const MeasuredPoint& point : points) {
    const auto* special = std::get_if<GemmPoint>(&point.point);
    if (special == nullptr || !is_special(*special)) continue;
    const auto plain = std::find_if(points.begin(), points.end(), [&](const MeasuredPoint& other) {
      const auto* gemm = std::get_if<GemmPoint>(&other.point);
      return gemm != nullptr && is_plain(*gemm) && gemm->shape == special->shape &&
             gemm->precision == special->precision && gemm->layout == special->layout;
    });
    if (plain == points.end()) continue;
    found.push_back({special, point.measured.time.count(), plain->measured.time.count()});
  }
  return found;
}

}  // namespace

std::optional<Ratio> block_scaled_rate(const std::vector<MeasuredPoint>& points) {
  const auto all = pairs(points, [](const GemmPoint& gemm) { return gemm.block_scaled; });
  if (all.empty()) return std::nullopt;
  const auto count = static_cast<double>(all.size());
  double mean = 0.0;
  double squares = 0.0;
  for (const Pair& pair : all) {
    const double log = std::log(pair.plain_s / pair.special_s);
    mean += log / count;
    squares += log * log / count;
  }
  return Ratio{std::exp(mean), std::sqrt(std::max(0.0, squares - mean * mean))};
}

std::optional<Ratio> accumulation_bytes(const std::vector<MeasuredPoint>& points,
                                        double streaming) {
  const auto all = pairs(points, [](const GemmPoint& gemm) { return gemm.accumulates; });
  if (all.empty()) return std::nullopt;
  double products = 0.0;
  double squares = 0.0;
  const auto a_byte = [streaming](const Pair& pair) {
    return pair.special->shape.m * pair.special->shape.n / streaming;
  };
  for (const Pair& pair : all) {
    products += a_byte(pair) * (pair.special_s - pair.plain_s);
    squares += a_byte(pair) * a_byte(pair);
  }
  const double bytes = std::max(0.0, products / squares);
  double missed = 0.0;
  for (const Pair& pair : all) {
    missed += std::pow(pair.special_s - pair.plain_s - bytes * a_byte(pair), 2);
  }
  const double spread = bytes > 0.0 ? std::sqrt(missed / squares) / bytes : 1.0;
  return Ratio{bytes, std::clamp(spread, 0.02, 1.0)};
}

std::optional<GroupedFit> fitted_experts(const std::vector<MeasuredPoint>& points,
                                         const DeviceCosts& costs) {
  struct Row {
    const GroupedGemmPoint* point;
    double time;
  };
  std::vector<Row> rows;
  for (const MeasuredPoint& point : points) {
    const auto* grouped = std::get_if<GroupedGemmPoint>(&point.point);
    if (grouped != nullptr) rows.push_back({grouped, point.measured.time.count()});
  }
  if (rows.empty()) return std::nullopt;
  const auto errors = [&](double efficiency, double half_rows) {
    ExpertCosts tried;
    tried.grouped_efficiency.value = efficiency;
    tried.grouped_half_rows.value = half_rows;
    std::vector<double> logs;
    for (const Row& row : rows) {
      const GemmPoint& gemm = row.point->gemm;
      const Cost cost = grouped_gemm_cost(costs, tried, gemm.shape, row.point->experts,
                                          row.point->rows, gemm.precision);
      logs.push_back(std::abs(std::log(cost.time.count() / row.time)));
    }
    return logs;
  };
  std::vector<double> tried = {0.0};
  while (tried.back() < 950.0) tried.push_back(1.05 * tried.back() + 1.0);
  GroupedFit best;
  double least = std::numeric_limits<double>::infinity();
  for (int share = 20; share <= 100; ++share) {
    for (const double half_rows : tried) {
      const std::vector<double> logs = errors(0.01 * share, half_rows);
      double squares = 0.0;
      for (const double log : logs) squares += log * log;
      if (squares >= least) continue;
      least = squares;
      best = {0.01 * share, half_rows, relative_errors(logs)};
    }
  }
  return best;
}

}  // namespace headway
