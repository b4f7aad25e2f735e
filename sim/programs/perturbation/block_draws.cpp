#include "sim/programs/perturbation/block_draws.h"

#include <algorithm>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {

DrawTable& BlockDraws::table(std::size_t count) {
  if (count >= tables_.size()) tables_.resize(count + 1);
  std::unique_ptr<DrawTable>& table = tables_[count];
  if (!table) {
    table = std::make_unique<DrawTable>(perturbation_.jitter, static_cast<int>(count));
  }
  return *table;
}

double BlockDraws::quantile(std::int32_t accelerator, std::uint32_t operation) const {
  return counter_draw(perturbation_.seed, static_cast<std::uint64_t>(accelerator), operation);
}

double BlockDraws::factor(std::span<const std::int32_t> accelerators,
                          std::span<const double> device_factors, std::uint32_t operation) {
  const auto [least, most] = std::ranges::minmax(device_factors);
  if (perturbation_.jitter.none()) return most;
  if (least == most && perturbation_.repair.accelerators.empty()) {
    return most * table(accelerators.size())(quantile(accelerators[0], operation));
  }
  DrawTable& of_one = table(1);
  double slowest = 0.0;
  double known_factor = 0.0;  // of a device that was drawn for, and what it drew
  double known_quantile = 0.0;
  for (std::size_t i = 0; i < device_factors.size(); ++i) {
    if (perturbation_.repair.covers(accelerators[i])) {
      slowest = std::max(slowest, device_factors[i]);
      continue;
    }
    const double drawn = quantile(accelerators[i], operation);
    if (device_factors[i] <= known_factor && drawn <= known_quantile) continue;  // it is no slower
    slowest = std::max(slowest, device_factors[i] * of_one(drawn));
    known_factor = device_factors[i];
    known_quantile = drawn;
  }
  return slowest;
}

}  // namespace headway
