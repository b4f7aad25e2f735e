#pragma once

#include "kernels/device_runtime.h"

// What kernels use of the compiler that CUDA and HIP have under different names.
#ifndef __HIP__
#include <cuda_bf16.h>
#else
#include <hip/hip_bf16.h>
#endif

namespace headway::device {

#ifndef __HIP__
using Half = __nv_bfloat16;
#else
using Half = __hip_bfloat16;
#endif

/// The value of another lane of 32: a warp of NVIDIA's, either half of a wavefront of AMD's.
__device__ inline float from_lane(float value, int lanes_apart) {
#ifdef __HIP__
  return __shfl_xor(value, lanes_apart, 32);
#else
  return __shfl_xor_sync(0xffffffffU, value, lanes_apart);
#endif
}

/// The device's own timer, in ns; 0 on the host, where it is compiled only to have an address.
__device__ inline unsigned long long device_time_ns() {
#if defined(__HIP_DEVICE_COMPILE__)
  return 10 * wall_clock64();  // 100 MHz on CDNA (AMD, HIP programming manual, "Timer functions")
#elif defined(__CUDA_ARCH__)
  unsigned long long time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
#else
  return 0;
#endif
}

}  // namespace headway::device
