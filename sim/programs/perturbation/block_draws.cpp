#include "sim/programs/perturbation/block_draws.h"

#include <algorithm>
#include <functional>

#include "sim/programs/perturbation/counter_draw.h"

namespace headway {

std::vector<BlockDraws::Device> BlockDraws::devices(
    std::span<const std::int32_t> accelerators) const {
  const std::vector<double> factors = device_time_factors(perturbation_, accelerators);
  std::vector<Device> devices;
  devices.reserve(accelerators.size());
  for (std::size_t i = 0; i < accelerators.size(); ++i) {
    devices.push_back(
        {.time_factor = factors[i],
         .stream = counter_stream(perturbation_.seed, static_cast<std::uint64_t>(accelerators[i])),
         .is_repaired = perturbation_.repair.covers(accelerators[i])});
  }
  std::ranges::stable_sort(devices, std::greater(), &Device::time_factor);
  return devices;
}

DrawTable& BlockDraws::table(std::size_t count) {
  if (count >= tables_.size()) tables_.resize(count + 1);
  std::shared_ptr<DrawTable>& table = tables_[count];
  if (!table) table = shared_draw_table(perturbation_.jitter, static_cast<int>(count));
  return *table;
}

double BlockDraws::factor(std::span<const Device> devices, std::uint32_t operation) {
  const double most = devices.front().time_factor;
  if (perturbation_.jitter.none()) return most;
  if (most == devices.back().time_factor && perturbation_.repair.accelerators.empty()) {
    return most * table(devices.size())(counter_draw(devices.front().stream, operation));
  }
  // Only who draws more than all devices before it, which are no faster, can be the slowest. Which
  // these are nobody can foresee, a processor's branches neither: they are written down first.
  double slowest = 0.0;
  double largest = 0.0;
  std::size_t count = 0;
  records_.resize(devices.size());
  for (const Device& device : devices) {
    if (device.is_repaired) {
      slowest = std::max(slowest, device.time_factor);
      continue;
    }
    const double drawn = counter_draw(device.stream, operation);
    records_[count] = {.time_factor = device.time_factor, .drawn = drawn};
    count += drawn > largest ? 1 : 0;
    largest = std::max(largest, drawn);
  }
  DrawTable& of_one = table(1);
  for (std::size_t i = 0; i < count; ++i) {
    slowest = std::max(slowest, records_[i].time_factor * of_one(records_[i].drawn));
  }
  return slowest;
}

}  // namespace headway
