#include "sim/programs/stage_costs/optimizer_cost.h"

#include <algorithm>
#include <optional>

#include "sim/base/diagnostic.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/layers/kernel_shape.h"

namespace headway {
namespace {

constexpr double kGradientNormBytes = 4.0;
constexpr double kWeightBytes = 4.0;  ///< of the optimizer's own copy of a parameter

}  // namespace

BytesPerSecond streaming_rate(const Profile& profile) {
  const DeviceCosts& device = profile.device;
  return BytesPerSecond(device.memory_bandwidth.value * device.memory_efficiency.value);
}

Seconds optimizer_time(const Profile& profile, const Strategy& strategy, double parameters,
                       double updated, double tensor) {
  const DeviceCosts& device = profile.device;
  const BytesPerSecond memory = streaming_rate(profile);
  const double by_host = strategy.optimizer_offload * updated;
  const std::optional<Estimate> without_norm =
      profile.kernel_families.at(strategy.kernel_family).optimizer_bytes;
  const bool takes_norm = strategy.gradient_norm && !without_norm;
  const Seconds norm = takes_norm ? Bytes(parameters * kGradientNormBytes) / memory : Seconds(0.0);
  const double bytes = without_norm.value_or(device.optimizer_bytes).value;
  const double by_device = updated - by_host;
  const std::optional<Cost> measured =
      without_norm ? std::nullopt
                   : curve_cost(device.optimizer_curve, Bytes(kWeightBytes * tensor));
  const Seconds own =
      measured ? by_device / tensor * measured->time : Bytes(by_device * bytes) / memory;
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

}  // namespace headway
