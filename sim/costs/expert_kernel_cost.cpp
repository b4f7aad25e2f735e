#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/costs/kernel_cost.h"
#include "sim/costs/spread.h"

namespace headway {

Cost grouped_gemm_cost(const DeviceCosts& device, const ExpertCosts& costs, const GemmShape& shape,
                       double experts, double rows, Precision precision) {
  HEADWAY_CHECK(supports(device, precision), "a precision that the device does not have");
  const double operations = experts * shape.flops();
  if (operations == 0.0) return {};
  const Estimate& peak = device.peak_flops.at(precision);
  const Estimate& efficiency = device.gemm_efficiency.at(precision);
  const bool is_grouped = experts > 1.0;
  const Bytes traffic = experts * gemm_traffic(shape, precision);

  double compute = operations / (peak.value * efficiency.value);
  if (is_grouped) compute /= costs.grouped_efficiency.value;
  const double streaming =
      traffic.count() / (device.memory_bandwidth.value * device.memory_efficiency.value);
  const double longer = std::max(compute, streaming);
  const double start = costs.grouped_half_rows.value / rows * compute;
  const double spread =
      compute >= streaming
          ? combined_spread({peak.spread, efficiency.spread,
                             is_grouped ? costs.grouped_efficiency.spread : 0.0})
          : combined_spread({device.memory_bandwidth.spread, device.memory_efficiency.spread});

  return {.time = max(Seconds(longer + start),
                      roofline_bound(device, Flops(operations), precision, traffic)),
          .status = CostStatus::interpolated,
          .spread = combined_spread(
              {spread, spread_of_one_plus(start / longer, costs.grouped_half_rows.spread)})};
}

Cost permutation_cost(const DeviceCosts& device, const KernelFamily& family,
                      const ExpertCosts& costs, double elements) {
  constexpr double kThereAndBack = 2.0;
  Cost cost = memory_pass_cost(device, family,
                               Bytes(kThereAndBack * elements * costs.permutation_bytes.value));
  cost.spread = combined_spread({cost.spread, costs.permutation_bytes.spread});
  return cost;
}

}  // namespace headway
