#include "sim/programs/stage_costs/optimizer_cost.h"

#include <algorithm>
#include <optional>

#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/kernel_shape.h"

namespace headway {
namespace {

constexpr double kGradientNormBytes = 4.0;
constexpr double kWeightBytes = 4.0;  ///< of the optimizer's own copy of a parameter
constexpr double kNewtonSchulzSteps = 5.0;

/// Bytes a weight of the copy that products take, where they do not take the weights themselves.
double copy_bytes(Precision precision) {
  const double bytes = working_bytes_per_element(precision);
  return bytes < kWeightBytes ? bytes : 0.0;
}

/// What Adam moves with the states that the software keeps over what it moves with 12 bytes of
/// them: each is read and written, and so is the parameter in 16 bits; the gradient is read.
double share_of_states(const Strategy& strategy) {
  constexpr double kStates = 12.0;
  constexpr double kParameter = 4.0;
  const double kept = strategy.memory.optimizer_state_bytes;
  if (!strategy.memory.says_optimizer_states()) return 1.0;
  const double rest = kParameter + bytes_per_element(strategy.gradient_precision);
  return (2.0 * kept + rest) / (2.0 * kStates + rest);
}

Seconds orthogonal_time(double rows, double columns, const DeviceCosts& device,
                        Precision precision) {
  const double m = std::min(rows, columns);
  const double n = std::max(rows, columns);
  const auto product = [&](double outputs, double terms) {
    return gemm_cost(device, {.m = m, .n = outputs, .k = terms}, precision).time;
  };
  return kNewtonSchulzSteps * (product(m, n) + product(m, m) + product(n, m));
}

}  // namespace

BytesPerSecond streaming_rate(const Profile& profile) {
  const DeviceCosts& device = profile.device;
  return BytesPerSecond(device.memory_bandwidth.value * device.memory_efficiency.value);
}

Seconds optimizer_time(const Profile& profile, const Strategy& strategy, const Optimizer& optimizer,
                       double parameters, double updated, double tensor) {
  const DeviceCosts& device = profile.device;
  const BytesPerSecond memory = streaming_rate(profile);
  const double by_host = strategy.optimizer_offload * updated;
  const bool takes_norm = strategy.gradient_norm && optimizer.clips;
  const Seconds norm = takes_norm ? Bytes(parameters * kGradientNormBytes) / memory : Seconds(0.0);
  const double adam = device.optimizer_bytes.value;
  const double bytes =
      optimizer.traffic
          ? std::max(1.0, adam / kAdamBytes) *
                update_bytes(optimizer, bytes_per_element(strategy.gradient_precision),
                             copy_bytes(strategy.precision))
          : adam;
  const double by_device = updated - by_host;
  const std::optional<Cost> measured =
      optimizer.traffic ? std::nullopt
                        : curve_cost(device.optimizer_curve, Bytes(kWeightBytes * tensor));
  const double moved = optimizer.traffic ? 1.0 : share_of_states(strategy);
  const Seconds own =
      moved * (measured ? by_device / tensor * measured->time : Bytes(by_device * bytes) / memory);
  if (strategy.optimizer_offload == 0.0) return own + norm;

  HEADWAY_CHECK(device.host_bandwidth && device.host_memory_bandwidth,
                "a profile that does not know the host");
  const BytesPerSecond link(device.host_bandwidth->value);
  const double parameter_bytes = working_bytes_per_element(strategy.precision);
  const Seconds down = Bytes(by_host * bytes_per_element(strategy.gradient_precision)) / link;
  const Seconds update = Bytes(by_host * (kHostAdamBytes + parameter_bytes)) /
                         BytesPerSecond(device.host_memory_bandwidth->value);
  const Seconds back = Bytes(by_host * parameter_bytes) / link;
  return norm + (strategy.overlap_optimizer_offload ? std::max({own, down, update, back})
                                                    : own + down + update + back);
}

OrthogonalTime orthogonal_time(const Layer& layer, const RankShape& shape,
                               const DeviceCosts& device, Precision precision) {
  OrthogonalTime time;
  for (const Product& product : layer.products) {
    const Seconds each = orthogonal_time(inputs_on_rank(product, shape),
                                         outputs_on_rank(product, shape), device, precision);
    if (product.part == Part::experts) {
      time.experts += product.copies / shape.expert_parallel * each;
    } else {
      time.shared += product.copies * each;
    }
  }
  return time;
}

}  // namespace headway
