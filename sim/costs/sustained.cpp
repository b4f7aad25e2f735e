#include "sim/costs/sustained.h"

#include <set>

#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

bool is_bound_by_memory(const DeviceCosts& device, const MeasuredGemm& row) {
  const double compute = row.shape.flops() / (device.peak_flops.at(row.precision).value *
                                              device.gemm_efficiency.at(row.precision).value);
  const double streaming = gemm_traffic(row.shape, row.precision).count() /
                           (device.memory_bandwidth.value * device.memory_efficiency.value);
  return streaming > compute;
}

}  // namespace

void sustain(DeviceCosts& device, double rate) {
  std::set<Precision> measured;
  for (MeasuredGemm& row : device.gemm_table) {
    measured.insert(row.precision);
    if (!is_bound_by_memory(device, row)) row.time = row.time / rate;
  }
  for (const Precision precision : measured) device.gemm_efficiency.at(precision).value *= rate;
  for (MeasuredAttention& row : device.attention_table) row.time = row.time / rate;
  if (!device.attention_table.empty()) device.attention_efficiency.value *= rate;
}

}  // namespace headway
