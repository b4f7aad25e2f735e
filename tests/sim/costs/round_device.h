#pragma once

#include "sim/costs/profile.h"

namespace headway {

inline Estimate estimate(double value, double spread = 0.0) {
  return {.value = value, .spread = spread, .source = "test"};
}

/// A device of round numbers, so that expected values can be worked out by hand: 100 TFLOP/s in
/// bf16 of which half are reached, 1 TB/s of which half is reached, 8 multiprocessors.
inline DeviceCosts round_device() {
  DeviceCosts device;
  device.peak_flops = {{Precision::fp32, estimate(10e12)},
                       {Precision::bf16, estimate(100e12)},
                       {Precision::fp8, estimate(200e12)}};
  device.memory_bytes = estimate(80e9);
  device.memory_bandwidth = estimate(1e12);
  device.multiprocessors = 8;
  device.gemm_efficiency = {{Precision::fp32, estimate(0.5, 0.03)},
                            {Precision::bf16, estimate(0.5, 0.03)},
                            {Precision::fp8, estimate(0.5, 0.03)}};
  device.gemm_inner_half = estimate(100.0);
  device.gemm_quantisation = estimate(0.5);
  device.gemm_overhead = estimate(10e-6);
  device.cast_bytes = estimate(5.0, 0.03);
  device.attention_efficiency = estimate(0.5, 0.03);
  device.attention_backward = estimate(0.8, 0.04);
  device.attention_sequence_half = estimate(1024.0);
  device.attention_head_exponent = estimate(1.0);
  device.attention_context_factor = estimate(1.1);
  device.batched_gemm_efficiency = estimate(0.5);
  device.misaligned_head_factor = estimate(3.0);
  device.unfused_forward_bytes = estimate(10.0);
  device.unfused_backward_bytes = estimate(15.0);
  device.memory_efficiency = estimate(0.5, 0.04);
  device.optimizer_bytes = estimate(34.0);
  return device;
}

inline KernelFamily plain_family() {
  KernelFamily family;
  family.memory_traffic = estimate(1.0);
  family.attention_rate = estimate(1.0);
  return family;
}

}  // namespace headway
