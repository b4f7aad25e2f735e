#include "sim/profile/profile.h"

namespace headway {

bool supports(const DeviceCosts& device, Precision precision) {
  return device.peak_flops.contains(precision) && device.gemm_efficiency.contains(precision);
}

}  // namespace headway
