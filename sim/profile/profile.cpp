#include "sim/profile/profile.h"

namespace headway {

bool supports(const DeviceCosts& device, Precision precision) {
  return device.peak_flops.contains(precision) && device.gemm_efficiency.contains(precision);
}

const Estimate* cast_bytes(const DeviceCosts& device, Scaling scaling) {
  if (scaling == Scaling::delayed) return &device.cast_bytes;
  const auto found = device.recipe_cast_bytes.find(scaling);
  return found == device.recipe_cast_bytes.end() ? nullptr : &found->second;
}

}  // namespace headway
