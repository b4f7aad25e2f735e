#include "sim/programs/perturbation/block_draws.h"

#include <algorithm>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {

double BlockDraws::draw(std::int32_t accelerator, std::size_t count, std::uint32_t operation) {
  if (perturbation_.repair.covers(accelerator)) return 1.0;
  if (count >= tables_.size()) tables_.resize(count + 1);
  std::unique_ptr<DrawTable>& table = tables_[count];
  if (!table) {
    table = std::make_unique<DrawTable>(perturbation_.jitter, static_cast<int>(count));
  }
  return (*table)(
      counter_draw(perturbation_.seed, static_cast<std::uint64_t>(accelerator), operation));
}

double BlockDraws::factor(std::span<const std::int32_t> accelerators,
                          std::span<const double> device_factors, std::uint32_t operation) {
  const auto [least, most] = std::ranges::minmax(device_factors);
  if (perturbation_.jitter.none()) return most;
  if (least == most && perturbation_.repair.accelerators.empty()) {
    return most * draw(accelerators[0], accelerators.size(), operation);
  }
  double slowest = 0.0;
  for (std::size_t i = 0; i < device_factors.size(); ++i) {
    slowest = std::max(slowest, device_factors[i] * draw(accelerators[i], 1, operation));
  }
  return slowest;
}

}  // namespace headway
