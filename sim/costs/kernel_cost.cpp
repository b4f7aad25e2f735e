#include "sim/costs/kernel_cost.h"

#include "sim/base/diagnostic.h"
#include "sim/costs/spread.h"

namespace headway {
namespace {

/// Bytes that really move, at a share of the bandwidth, or as passes of that size were measured.
Cost streaming_cost(const DeviceCosts& device, Bytes moved, double moved_spread,
                    const Estimate& efficiency) {
  if (moved <= Bytes(0.0)) return {};
  const BytesPerSecond peak(device.memory_bandwidth.value);
  if (auto measured = curve_cost(device.memory_curve, moved)) {
    measured->time = max(measured->time, moved / peak);
    measured->spread = combined_spread({measured->spread, moved_spread});
    return *measured;
  }
  return {
      .time = moved / (peak * efficiency.value),
      .status =
          device.memory_curve.points.empty() ? CostStatus::interpolated : CostStatus::extrapolated,
      .spread = combined_spread({device.memory_bandwidth.spread, efficiency.spread, moved_spread})};
}

}  // namespace

Cost memory_pass_cost(const DeviceCosts& device, const KernelFamily& family, Bytes traffic) {
  return streaming_cost(device, traffic * family.memory_traffic.value, family.memory_traffic.spread,
                        device.memory_efficiency);
}

Cost counted_pass_cost(const DeviceCosts& device, Bytes traffic) {
  return streaming_cost(device, traffic, 0.0,
                        device.copy_efficiency.value_or(device.memory_efficiency));
}

Cost gather_cost(const DeviceCosts& device, Bytes traffic) {
  if (!device.gather_efficiency) {
    return streaming_cost(device, traffic, 0.0, device.memory_efficiency);
  }
  const Estimate& efficiency = *device.gather_efficiency;
  return {.time = traffic / BytesPerSecond(device.memory_bandwidth.value * efficiency.value),
          .status = CostStatus::interpolated,
          .spread = combined_spread({device.memory_bandwidth.spread, efficiency.spread})};
}

Cost update_cost(const DeviceCosts& device, double parameters) {
  constexpr double kWeightBytes = 4.0;
  if (const auto measured = curve_cost(device.optimizer_curve, Bytes(kWeightBytes * parameters))) {
    return *measured;
  }
  const Estimate& bytes = device.optimizer_bytes;
  return streaming_cost(device, Bytes(bytes.value * parameters), bytes.spread,
                        device.memory_efficiency);
}

Cost cast_cost(const DeviceCosts& device, double elements, Scaling scaling) {
  const Estimate* const bytes = cast_bytes(device, scaling);
  HEADWAY_CHECK(bytes != nullptr, "a scaling that the profile does not know");
  return streaming_cost(device, Bytes(elements * bytes->value), bytes->spread,
                        device.memory_efficiency);
}

Seconds roofline_bound(const DeviceCosts& device, Flops work, Precision precision, Bytes traffic) {
  HEADWAY_CHECK(supports(device, precision), "a precision that the device does not have");
  return max(work / FlopsPerSecond(device.peak_flops.at(precision).value),
             traffic / BytesPerSecond(device.memory_bandwidth.value));
}

}  // namespace headway
