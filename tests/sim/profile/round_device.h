#pragma once

#include "sim/profile/profile.h"

namespace headway {

/// A device of round numbers, so that expected values can be worked out by hand: 100 TFLOP/s in
/// bf16 of which half are reached, 1 TB/s of which half is reached, 8 multiprocessors.
inline DeviceCosts round_device() {
  DeviceCosts device;
  device.peak_flops = {{Precision::fp32, {.value = 10e12}},
                       {Precision::bf16, {.value = 100e12}},
                       {Precision::fp8, {.value = 200e12}}};
  device.memory_bytes = {.value = 80e9};
  device.memory_bandwidth = {.value = 1e12};
  device.multiprocessors = 8;
  device.gemm_efficiency = {{Precision::fp32, {.value = 0.5, .spread = 0.03}},
                            {Precision::bf16, {.value = 0.5, .spread = 0.03}},
                            {Precision::fp8, {.value = 0.5, .spread = 0.03}}};
  device.gemm_inner_half = {.value = 100.0};
  device.gemm_quantisation = {.value = 0.5};
  device.gemm_overhead = {.value = 10e-6};
  device.cast_bytes = {.value = 5.0, .spread = 0.03};
  device.attention_efficiency = {.value = 0.5, .spread = 0.03};
  device.attention_backward = {.value = 0.8, .spread = 0.04};
  device.attention_sequence_half = {.value = 1024.0};
  device.attention_head_exponent = {.value = 1.0};
  device.attention_context_factor = {.value = 1.1};
  device.batched_gemm_efficiency = {.value = 0.5};
  device.misaligned_head_factor = {.value = 3.0};
  device.unfused_forward_bytes = {.value = 10.0};
  device.unfused_backward_bytes = {.value = 15.0};
  device.memory_efficiency = {.value = 0.5, .spread = 0.04};
  device.optimizer_bytes = {.value = 34.0};
  return device;
}

inline KernelFamily plain_family() {
  return {.memory_traffic = {.value = 1.0}, .attention_rate = {.value = 1.0}};
}

}  // namespace headway
