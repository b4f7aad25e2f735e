#pragma once

#include "kernels/elementwise_kernels.cuh"

// Numbers of 8 and 4 bits, and the pass that makes them of bf16.

namespace headway::device {

/// The bits of the nearest e4m3 number (Micikevicius et al. 2022: 4 bits of exponent with bias 7, 3
/// of mantissa, no infinity); 448 for what is larger.
__device__ inline unsigned e4m3(float value) {
  const unsigned bits = __float_as_uint(value);
  const unsigned sign = bits >> 24U & 0x80U;
  const float size = fabsf(value);
  if (size < 0.015625F) {  // below 2^-6: multiples of 2^-9
    return sign | static_cast<unsigned>(rintf(size * 512.0F));
  }
  // Round to 3 bits of mantissa, ties to even, the exponent growing with a carry.
  const unsigned rounded = (bits & 0x7fffffffU) + 0x7ffffU + (bits >> 20U & 1U);
  const unsigned whole = (rounded >> 20U) - ((127U - 7U) << 3U);
  return sign | (whole > 0x7eU ? 0x7eU : whole);
}

/// Two of them, `low` in the lower byte: one instruction where the device has it.
__device__ inline unsigned two_e4m3(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  unsigned short both = 0;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
  return both;
#else
  return e4m3(low) | e4m3(high) << 8U;
#endif
}

/// The bits of an e2m1 number near `value` (OCP microscaling formats 1.0: 0, 0.5, 1, 1.5, 2, 3, 4,
/// 6).
__device__ inline unsigned e2m1(float value) {
  const float size = fabsf(value);
  const unsigned sign = value < 0.0F ? 8U : 0U;
  if (size < 2.0F) return sign | static_cast<unsigned>(rintf(2.0F * size));
  if (size < 3.5F) return sign | (size < 2.5F ? 4U : 5U);
  return sign | (size < 5.0F ? 6U : 7U);
}

constexpr int kCastThreads = 256;
constexpr unsigned kCastRows = 64;  ///< of a block's tile, and
constexpr unsigned kCastColumns = 128;
constexpr unsigned kCastTilesAcross = kKernelRow / kCastColumns;

/// Each block turns a tile. A thread has a word (8 columns) of four rows below each other in
/// flight, 64 bytes; in the tile four rows of a column are one word, at places that neighbours' do
/// not share a bank with. `rows` is a multiple of kCastRows.
__global__ void cast_transpose(const Half* __restrict__ x, float inverse_scale,
                               std::uint8_t* __restrict__ q, std::uint8_t* __restrict__ transposed,
                               std::size_t rows) {
  constexpr unsigned kWords = kCastColumns / kWordHalves;  // of a row of the tile
  constexpr unsigned kFours = kCastRows / 4;
  __shared__ unsigned tile[kCastColumns][kFours];
  const std::size_t first_row = blockIdx.x / kCastTilesAcross * static_cast<std::size_t>(kCastRows);
  const unsigned first_column = blockIdx.x % kCastTilesAcross * kCastColumns;
  const unsigned word = threadIdx.x % kWords;
  const unsigned four = threadIdx.x / kWords;
  const std::size_t row = first_row + 4U * four;
  const std::size_t at = row * kRowWords + first_column / kWordHalves + word;
  uint4 in[4];
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) in[r] = reinterpret_cast<const uint4*>(x)[at + r * kRowWords];
  unsigned columns[kWordHalves] = {};
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) {
    float values[kWordHalves];
    unpack(in[r], values);
    unsigned halves[2] = {};
#pragma unroll
    for (unsigned i = 0; i < kWordHalves; i += 2) {
      const unsigned two = two_e4m3(values[i] * inverse_scale, values[i + 1] * inverse_scale);
      halves[i / 4] |= two << (8U * (i % 4));
      columns[i] |= (two & 0xffU) << (8U * r);
      columns[i + 1] |= (two >> 8U) << (8U * r);
    }
    reinterpret_cast<uint2*>(q)[at + r * kRowWords] = {halves[0], halves[1]};
  }
#pragma unroll
  for (unsigned i = 0; i < kWordHalves; ++i) {
    tile[word * kWordHalves + i][(four + word) % kFours] = columns[i];
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < kCastColumns * 4 / kCastThreads; ++i) {
    const unsigned part = threadIdx.x + i * kCastThreads;
    const unsigned column = part / 4;
    const unsigned of_column = column / kWordHalves + part % 4 * 4;  // in words of the tile
    const uint4 sixteen = {tile[column][of_column % kFours], tile[column][(of_column + 1) % kFours],
                           tile[column][(of_column + 2) % kFours],
                           tile[column][(of_column + 3) % kFours]};
    const std::size_t to = (first_column + column) * rows + first_row + part % 4 * 16;
    *reinterpret_cast<uint4*>(transposed + to) = sixteen;
  }
}

}  // namespace headway::device
