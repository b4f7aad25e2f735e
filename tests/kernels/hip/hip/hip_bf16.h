#pragma once
// bfloat16 of HIP, see hip_runtime.h.

#include <hip/hip_runtime.h>

struct __hip_bfloat16 {
  unsigned short data;
};
/// Rounds to the nearest, ties to even.
__device__ inline __hip_bfloat16 __float2bfloat16(float value) {
  const unsigned bits = __float_as_uint(value);
  return {static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U)};
}
__device__ inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 half) { return half.data; }
