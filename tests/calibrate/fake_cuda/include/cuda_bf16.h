#pragma once

#include <cuda_runtime.h>

struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 half) { return __uint_as_float(unsigned{half.bits} << 16U); }
/// Rounds to the nearest, ties to even.
inline __nv_bfloat16 __float2bfloat16(float value) {
  const unsigned bits = __float_as_uint(value);
  if (value != value) return {0x7fff};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U)};
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 half) { return half.bits; }
