#include "calibrate/block/block_run.h"

#include <chrono>
#include <vector>

#include "calibrate/measure/statistics.h"
#include "calibrate/suite/interruption.h"

namespace headway {
namespace {

/// The time of one step by the clock of the host: a step is long, and ends when the device has done
/// it.
double step_seconds(TransformerBlock& block, BlockDevice& device) {
  throw_if_interrupted();
  const auto start = std::chrono::steady_clock::now();
  block.forward();
  block.backward();
  block.update();
  device.finish();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

BlockRun measured_block(BlockDevice& device, const BlockShape& shape, std::uint64_t seed,
                        Seconds duration) {
  constexpr int kWarmUp = 3;
  constexpr std::size_t kFewest = 5;
  TransformerBlock block(device, shape, seed);
  device.finish();
  for (int i = 0; i < kWarmUp; ++i) (void)step_seconds(block, device);
  std::vector<double> times;
  double sum = 0.0;
  while (times.size() < kFewest || sum < duration.count()) {
    times.push_back(step_seconds(block, device));
    sum += times.back();
  }
  const double time = median(times);
  return {shape, device.precision(), static_cast<int>(times.size()), Seconds(time),
          1.4826 * median_absolute_deviation(times) / time};
}

}  // namespace headway
