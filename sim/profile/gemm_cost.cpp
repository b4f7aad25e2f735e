#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/profile/gemm_formula.h"
#include "sim/profile/kernel_cost.h"
#include "sim/profile/spread.h"

namespace headway {
namespace {

/// How many measured shapes speak for one among them, and how far from the nearest of them it may
/// be: a factor of 4, as the distance of the logarithms of m, n and k.
constexpr std::size_t kNeighbours = 8;
const double kReach = std::log(4.0);

/// How the measured shapes around one differ from the formula.
struct Correction {
  double factor = 1.0;  ///< on the formula's time
  double spread = 0.0;  ///< of the measurements and between them
};

struct Neighbour {
  double distance = 0.0;
  double log_factor = 0.0;
  double spread = 0.0;
};

double log_distance(const GemmShape& a, const GemmShape& b) {
  return std::hypot(std::log(a.m / b.m), std::log(a.n / b.n), std::log(a.k / b.k));
}

/// The range of the measured shapes in each of the three sizes.
class ShapeRange {
 public:
  void extend(const GemmShape& shape) {
    least_ = {std::min(least_.m, shape.m), std::min(least_.n, shape.n),
              std::min(least_.k, shape.k)};
    most_ = {std::max(most_.m, shape.m), std::max(most_.n, shape.n), std::max(most_.k, shape.k)};
  }
  [[nodiscard]] bool contains(const GemmShape& shape) const {
    return least_.m <= shape.m && shape.m <= most_.m && least_.n <= shape.n && shape.n <= most_.n &&
           least_.k <= shape.k && shape.k <= most_.k;
  }

 private:
  GemmShape least_{INFINITY, INFINITY, INFINITY};
  GemmShape most_{0.0, 0.0, 0.0};
};

/// Inverse-distance weights (Shepard 1968) on the logarithms of measured over formula time.
/// Requires at least one neighbour, none at distance 0.
Correction weighted(const std::vector<Neighbour>& neighbours) {
  double weights = 0.0;
  double log_factor = 0.0;
  double spread = 0.0;
  for (const Neighbour& neighbour : neighbours) {
    const double weight = 1.0 / (neighbour.distance * neighbour.distance);
    weights += weight;
    log_factor += weight * neighbour.log_factor;
    spread += weight * neighbour.spread;
  }
  log_factor /= weights;
  spread /= weights;

  double variance = 0.0;
  for (const Neighbour& neighbour : neighbours) {
    const double weight = 1.0 / (neighbour.distance * neighbour.distance);
    variance += weight / weights * std::pow(neighbour.log_factor - log_factor, 2);
  }
  return {std::exp(log_factor), combined_spread({spread, std::sqrt(variance)})};
}

/// Nothing if the shape is outside of the table's range or far from all of it.
std::optional<Correction> table_correction(const DeviceCosts& device, const GemmShape& shape,
                                           Precision precision) {
  ShapeRange range;
  std::vector<Neighbour> neighbours;
  for (const MeasuredGemm& measured : device.gemm_table) {
    if (measured.precision != precision) continue;
    range.extend(measured.shape);
    const Seconds formula = gemm_formula_cost(device, measured.shape, precision).time;
    neighbours.push_back(
        {log_distance(shape, measured.shape), std::log(measured.time / formula), measured.spread});
  }
  if (!range.contains(shape)) return std::nullopt;

  const std::size_t kept = std::min(kNeighbours, neighbours.size());
  std::partial_sort(neighbours.begin(), neighbours.begin() + static_cast<std::ptrdiff_t>(kept),
                    neighbours.end(),
                    [](const Neighbour& a, const Neighbour& b) { return a.distance < b.distance; });
  neighbours.resize(kept);
  if (neighbours.front().distance > kReach) return std::nullopt;
  return weighted(neighbours);
}

bool has_table(const DeviceCosts& device, Precision precision) {
  return std::any_of(
      device.gemm_table.begin(), device.gemm_table.end(),
      [precision](const MeasuredGemm& measured) { return measured.precision == precision; });
}

Cost unbounded_cost(const DeviceCosts& device, const GemmShape& shape, Precision precision) {
  for (const MeasuredGemm& measured : device.gemm_table) {
    if (measured.precision == precision && measured.shape == shape) {
      return {measured.time, CostStatus::exact, measured.spread};
    }
  }
  Cost cost = gemm_formula_cost(device, shape, precision);
  if (!has_table(device, precision)) return cost;
  if (const auto correction = table_correction(device, shape, precision)) {
    cost.time *= correction->factor;
    cost.spread = correction->spread;
  } else {
    cost.status = CostStatus::extrapolated;
  }
  return cost;
}

}  // namespace

Bytes gemm_traffic(const GemmShape& shape, Precision precision) {
  const double operand = bytes_per_element(precision);
  const double result = std::max(2.0, operand);
  return Bytes(operand * (shape.m * shape.k + shape.k * shape.n) + result * shape.m * shape.n);
}

Cost gemm_cost(const DeviceCosts& device, const GemmShape& shape, Precision precision) {
  HEADWAY_CHECK(supports(device, precision), "a precision that the device does not have");
  HEADWAY_CHECK(std::min({shape.m, shape.n, shape.k}) >= 0.0, "a negative size");
  if (shape.flops() == 0.0) return {};

  Cost cost = unbounded_cost(device, shape, precision);
  cost.time = max(cost.time, roofline_bound(device, Flops(shape.flops()), precision,
                                            gemm_traffic(shape, precision)));
  return cost;
}

}  // namespace headway
