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
  if (drawn.empty()) return undrawn_factor;
  const double most = drawn.front().time_factor;
  if (perturbation_.jitter.none()) return std::max(most, undrawn_factor);
  if (most == drawn.back().time_factor && perturbation_.repair.accelerators.empty()) {
    return most * table(drawn.size())(counter_draw(drawn.front().stream, operation));
  }
  // Only who draws more than all devices before it, which are no faster, can be the slowest. Which
  // these are nobody can foresee, a processor's branches neither: they are written down first.
  double slowest = undrawn_factor;
  double largest = 0.0;
  std::size_t count = 0;
  records_.resize(drawn.size());
  for (const Device& device : drawn) {
    const double draw = counter_draw(device.stream, operation);
    records_[count] = {.time_factor = device.time_factor, .draw = draw};
    count += draw > largest ? 1 : 0;
    largest = std::max(largest, draw);
  }
  DrawTable& of_one = table(1);
  for (std::size_t i = 0; i < count; ++i) {
    slowest = std::max(slowest, records_[i].time_factor * of_one(records_[i].draw));
  }
  return slowest;
}

}  // namespace headway
