#pragma once

#include "sim/costs/profile.h"
#include "tests/sim/costs/round_device.h"

namespace headway {

/// The round device with a network that reaches all of its rates, nothing on top of its latencies,
/// nothing that cannot hide and nothing that varies. Tests set what they are about.
inline Profile round_profile() {
  Profile profile;
  profile.name = "round";
  profile.accelerator = "any";
  profile.kind = "measured";
  profile.device = round_device();
  profile.kernel_families = {{"fused", plain_family()}};
  for (ScopeCosts* scope : {&profile.scale_up, &profile.scale_out}) {
    scope->bandwidth_efficiency = estimate(1.0);
  }
  profile.overlap.tensor_parallel_overlapped = estimate(1.0);
  return profile;
}

/// The same with every product at 2 m n k over 50 TFLOP/s in bf16, to the last bit.
inline Profile even_profile() {
  Profile profile = round_profile();
  profile.device.gemm_inner_half = estimate(0.0);
  profile.device.gemm_quantisation = estimate(0.0);
  profile.device.gemm_overhead = estimate(0.0);
  return profile;
}

}  // namespace headway
