#include "sim/programs/perturbation/block_draws.h"

#include <algorithm>
#include <functional>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {

BlockDraws::Devices BlockDraws::devices(std::span<const std::int32_t> accelerators) const {
  const std::vector<double> factors = device_time_factors(perturbation_, accelerators);
  Devices devices;
  devices.drawn.reserve(accelerators.size());
  for (std::size_t i = 0; i < accelerators.size(); ++i) {
    if (perturbation_.repair.covers(accelerators[i])) {
      devices.undrawn_factor = std::max(devices.undrawn_factor, factors[i]);
      continue;
    }
    devices.drawn.push_back({.time_factor = factors[i],
                             .stream = counter_stream(
                                 perturbation_.seed, static_cast<std::uint64_t>(accelerators[i]))});
  }
  std::ranges::stable_sort(devices.drawn, std::greater(), &Device::time_factor);
  return devices;
}

DrawTable& BlockDraws::table(std::size_t count) {
  if (count >= tables_.size()) tables_.resize(count + 1);
  std::shared_ptr<DrawTable>& table = tables_[count];
  if (!table) table = shared_draw_table(perturbation_.jitter, static_cast<int>(count));
  return *table;
}

double BlockDraws::factor(std::span<const Device> drawn, double undrawn_factor,
                          std::uint32_t operation) {
  return slowest(drawn, undrawn_factor,
                 [&](std::size_t i) { return counter_draw(drawn[i].stream, operation); });
}

}  // namespace headway
