#include "sim/costs/profile.h"

namespace headway {

bool supports(const DeviceCosts& device, Precision precision) {
  return device.peak_flops.contains(precision) && device.gemm_efficiency.contains(precision);
}

std::optional<Precision> attention_precision(const DeviceCosts& device) {
  for (const Precision precision :
       {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32}) {
    if (supports(device, precision)) return precision;
  }
  return std::nullopt;
}

const Estimate* cast_bytes(const DeviceCosts& device, Scaling scaling) {
  if (scaling == Scaling::delayed) return &device.cast_bytes;
  const auto found = device.recipe_cast_bytes.find(scaling);
  return found == device.recipe_cast_bytes.end() ? nullptr : &found->second;
}

}  // namespace headway
