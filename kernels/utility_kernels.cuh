#pragma once

#include "kernels/narrow_kernels.cuh"

// Kernels that are no part of training: what measuring it needs.

namespace headway::device {

__global__ void empty() {}

/// As a collective's kernels move data: by few blocks, each thread with four words in flight.
__global__ void copy_words(const uint4* __restrict__ from, uint4* __restrict__ to,
                                  std::size_t words) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x; i < words;
       i += kUnroll * stride) {
    uint4 in[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::size_t at = i + static_cast<unsigned>(u) * stride;
      if (at < words) in[u] = from[at];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const std::size_t at = i + static_cast<unsigned>(u) * stride;
      if (at < words) to[at] = in[u];
    }
  }
}

/// A hash (Wellons, "lowbias32") as a value in [0, 1).
__device__ inline float uniform(std::uint32_t h) {
  h = (h ^ (h >> 16U)) * 0x7feb352dU;
  h = (h ^ (h >> 15U)) * 0x846ca68bU;
  h ^= h >> 16U;
  return static_cast<float>(h >> 8U) / 16777216.0F;
}
/// About normal, of mean 0 and deviation 1: the sum of four uniform numbers has the variance 1/3
/// (Irwin and Hall). Never above 2 sqrt(3) = 3.46.
__device__ inline float normal(std::size_t i, std::uint32_t seed) {
  const std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761U + seed;
  const float sum = uniform(h) + uniform(h ^ 0x68bc21ebU) + uniform(h ^ 0x02e5be93U) +
                    uniform(h ^ 0x967a889bU);
  return (sum - 2.0F) * 1.7320508F;
}

__global__ void random_bf16(Half* target, std::size_t count, std::uint32_t seed) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) target[i] = __float2bfloat16(normal(i, seed));
}

/// Scaled as training scales: the largest of a tensor at 448, so that the deviation is 448 / 3.46. No
/// negative zero, whose bits are no number on CDNA 3.
__global__ void random_e4m3(std::uint8_t* target, std::size_t count, std::uint32_t seed) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const unsigned bits = e4m3(129.0F * normal(i, seed));
  target[i] = static_cast<std::uint8_t>(bits == 0x80U ? 0U : bits);
}

/// Two numbers a byte. The largest of a block of 16 stands at 6, and about two deviations
/// off zero, so that the deviation is 3.
__global__ void random_e2m1(std::uint8_t* target, std::size_t count, std::uint32_t seed) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i >= count) return;
  const unsigned low = e2m1(3.0F * normal(2 * i, seed));
  const unsigned high = e2m1(3.0F * normal(2 * i + 1, seed));
  target[i] = static_cast<std::uint8_t>(low | high << 4U);
}

__global__ void round_to_bf16(const float* __restrict__ from, Half* __restrict__ to,
                                     std::size_t words) {
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(kThreads * kUnroll) + threadIdx.x;
  float4 in[kUnroll][2];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
    in[u][0] = reinterpret_cast<const float4*>(from)[2 * i];
    in[u][1] = reinterpret_cast<const float4*>(from)[2 * i + 1];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
    reinterpret_cast<uint4*>(to)[i] = {packed(in[u][0].x, in[u][0].y), packed(in[u][0].z, in[u][0].w),
                                       packed(in[u][1].x, in[u][1].y), packed(in[u][1].z, in[u][1].w)};
  }
}

/// Ends when the host sets `flag`, or says in `expired` that it gave up after `most` clocks.
__global__ void hold(const volatile int* flag, long long most, volatile int* expired) {
  const long long start = clock64();
  while (*flag == 0) {
    if (clock64() - start > most) {
      *expired = 1;
      return;
    }
  }
}

/// Runs for some clocks; when it began and when it ended, in ns of the device's own timer.
__global__ void stamp(long long clocks, unsigned long long* begun_and_ended) {
  begun_and_ended[0] = device_time_ns();
  const long long start = clock64();
  while (clock64() - start < clocks) {
  }
  begun_and_ended[1] = device_time_ns();
}

}  // namespace headway::device
