#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu_kernels.h"
#include "kernels/device_builtins.cuh"

// The arithmetic of the element-wise kernels; formulas as in the CPU twins.
//
// Bytes in flight. A multiprocessor that is to receive its share of the memory's rate must have
// asked for rate / multiprocessors * latency bytes at any time (Little's law). Under load the
// latency is 0.8 to 1.3 us: 16 KiB on an A100 (2.0 TB/s, 108), 32 on an H100 (3.35 TB/s, 132), 48 on
// an H200 (4.8 TB/s), 70 on a B200 (8 TB/s, 148). Here each thread asks for kUnroll words of 16
// bytes of each input before it uses the first: 64 bytes of one input, 128 of two. With the 1,024
// threads and more that the registers leave room for (at most 64 each) that is 64 to 128 KiB.
//
// Issue slots. A word of two inputs and one output (48 bytes) takes about 45 instructions: 3 of
// memory, 16 to unpack, 8 to 24 of arithmetic, 12 to pack. A multiprocessor issues 4 warps a clock,
// thus moves 4 * 32 * 48 / 45 = 136 bytes a clock, of which the memory of an H100 delivers 14.

namespace headway::device {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;
constexpr int kWordHalves = 8;  ///< bf16 in 16 bytes
constexpr unsigned kRowWords = kKernelRow / kWordHalves;

/// A bf16 is the upper half of an fp32 number.
__device__ inline void unpack(const uint4& word, float (&values)[kWordHalves]) {
  const unsigned bits[4] = {word.x, word.y, word.z, word.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = __uint_as_float(bits[i] << 16U);
    values[2 * i + 1] = __uint_as_float(bits[i] & 0xffff0000U);
  }
}

__device__ inline unsigned packed(float low, float high) {
  const unsigned upper = __bfloat16_as_ushort(__float2bfloat16(high));
  return upper << 16U | __bfloat16_as_ushort(__float2bfloat16(low));
}
__device__ inline uint4 packed(const float (&v)[kWordHalves]) {
  return {packed(v[0], v[1]), packed(v[2], v[3]), packed(v[4], v[5]), packed(v[6], v[7])};
}

/// Each block has kThreads * kUnroll words; a thread loads all of its own before it uses one. `map`
/// is called with the inputs' elements, the outputs' and the number of the word.
template <int kInputs, int kOutputs, class Map>
__device__ void for_each_word(const Half* const (&from)[kInputs], Half* const (&to)[kOutputs],
                              std::size_t words, Map map) {
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(kThreads * kUnroll) + threadIdx.x;
  uint4 in[kUnroll][kInputs];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
#pragma unroll
    for (int k = 0; k < kInputs; ++k) in[u][k] = reinterpret_cast<const uint4*>(from[k])[i];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
    float inputs[kInputs][kWordHalves];
    float outputs[kOutputs][kWordHalves];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) unpack(in[u][k], inputs[k]);
    map(inputs, outputs, i);
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) reinterpret_cast<uint4*>(to[k])[i] = packed(outputs[k]);
  }
}

/// z = map(x), element by element.
template <class Map>
__device__ void map_elements(const Half* x, Half* z, std::size_t n, Map map) {
  for_each_word<1, 1>({x}, {z}, n / kWordHalves, [map](const auto& in, auto& out, std::size_t) {
#pragma unroll
    for (int i = 0; i < kWordHalves; ++i) out[0][i] = map(in[0][i]);
  });
}
/// z = map(x, y)
template <class Map>
__device__ void map_elements(const Half* x, const Half* y, Half* z, std::size_t n, Map map) {
  for_each_word<2, 1>({x, y}, {z}, n / kWordHalves, [map](const auto& in, auto& out, std::size_t) {
#pragma unroll
    for (int i = 0; i < kWordHalves; ++i) out[0][i] = map(in[0][i], in[1][i]);
  });
}

__device__ inline float gelu_half(float x) {
  const float u = 0.7978845608F * (x + 0.044715F * x * x * x);
  return 1.0F - 1.0F / (__expf(2.0F * u) + 1.0F);
}

__global__ void residual_add(const Half* __restrict__ x, const Half* __restrict__ y,
                                    Half* __restrict__ z, std::size_t n) {
  map_elements(x, y, z, n, [](float a, float b) { return a + b; });
}

__global__ void gelu(const Half* __restrict__ x, Half* __restrict__ z, std::size_t n) {
  map_elements(x, z, n, [](float value) { return value * gelu_half(value); });
}

__global__ void gelu_backward(const Half* __restrict__ x, const Half* __restrict__ dz,
                                     Half* __restrict__ dx, std::size_t n) {
  map_elements(x, dz, dx, n, [](float value, float gradient) {
    const float half = gelu_half(value);
    const float slope = 0.7978845608F * (1.0F + 3.0F * 0.044715F * value * value);
    return gradient * (half + 2.0F * value * half * (1.0F - half) * slope);
  });
}

__global__ void swiglu(const Half* __restrict__ x, const Half* __restrict__ gate,
                              Half* __restrict__ z, std::size_t n) {
  map_elements(x, gate, z, n,
               [](float value, float g) { return value / (1.0F + __expf(-value)) * g; });
}

__global__ void rotary(const Half* __restrict__ x, Half* __restrict__ z, std::size_t n) {
  for_each_word<1, 1>({x}, {z}, n / kWordHalves, [](const auto& in, auto& out, std::size_t word) {
    const auto position = static_cast<float>(static_cast<unsigned>(word / kRowWords));
    const unsigned first_pair = static_cast<unsigned>(word) % kRowWords * (kWordHalves / 2);
#pragma unroll
    for (int pair = 0; pair < kWordHalves / 2; ++pair) {
      // 10000^(-2i/row) = 2^(-2i/row log2 10000)
      const float rate = exp2f(static_cast<float>(first_pair + static_cast<unsigned>(pair)) *
                               (-2.0F / static_cast<float>(kKernelRow) * 13.28771F));
      float sine = 0.0F;
      float cosine = 0.0F;
      __sincosf(position * rate, &sine, &cosine);
      const float even = in[0][2 * pair];
      const float odd = in[0][2 * pair + 1];
      out[0][2 * pair] = even * cosine - odd * sine;
      out[0][2 * pair + 1] = even * sine + odd * cosine;
    }
  });
}

__global__ void embedding_gather(const Half* __restrict__ table,
                                        const std::int32_t* __restrict__ index,
                                        Half* __restrict__ z, std::size_t n) {
  const std::size_t words = n / kWordHalves;
  const std::size_t first = blockIdx.x * static_cast<std::size_t>(kThreads * kUnroll) + threadIdx.x;
  uint4 in[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
    const auto row = static_cast<std::size_t>(index[i / kRowWords]);
    in[u] = reinterpret_cast<const uint4*>(table)[row * kRowWords + i % kRowWords];
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i < words) reinterpret_cast<uint4*>(z)[i] = in[u];
  }
}

__global__ void sparsify(const Half* __restrict__ x, float threshold,
                                Half* __restrict__ kept, Half* __restrict__ rest, std::size_t n) {
  for_each_word<1, 2>({x}, {kept, rest}, n / kWordHalves,
                      [threshold](const auto& in, auto& out, std::size_t) {
#pragma unroll
                        for (int i = 0; i < kWordHalves; ++i) {
                          const bool keep = fabsf(in[0][i]) >= threshold;
                          out[0][i] = keep ? in[0][i] : 0.0F;
                          out[1][i] = keep ? 0.0F : in[0][i];
                        }
                      });
}

/// Two words of each of the four inputs in flight: 128 bytes a thread.
constexpr int kAdamUnroll = 2;

__global__ void adam(float* __restrict__ w, float* __restrict__ m, float* __restrict__ v,
                            const float* __restrict__ g, AdamRates r, std::size_t n) {
  const std::size_t words = n / 4;
  const std::size_t first =
      blockIdx.x * static_cast<std::size_t>(kThreads * kAdamUnroll) + threadIdx.x;
  float4 weight[kAdamUnroll];
  float4 mean[kAdamUnroll];
  float4 square[kAdamUnroll];
  float4 gradient[kAdamUnroll];
#pragma unroll
  for (int u = 0; u < kAdamUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
    weight[u] = reinterpret_cast<const float4*>(w)[i];
    mean[u] = reinterpret_cast<const float4*>(m)[i];
    square[u] = reinterpret_cast<const float4*>(v)[i];
    gradient[u] = reinterpret_cast<const float4*>(g)[i];
  }
  const auto step = [r](float& weight_of, float& mean_of, float& square_of, float gradient_of) {
    mean_of = r.beta1 * mean_of + (1.0F - r.beta1) * gradient_of;
    square_of = r.beta2 * square_of + (1.0F - r.beta2) * gradient_of * gradient_of;
    weight_of -= r.rate * mean_of / (sqrtf(square_of) + r.epsilon);
  };
#pragma unroll
  for (int u = 0; u < kAdamUnroll; ++u) {
    const std::size_t i = first + static_cast<unsigned>(u * kThreads);
    if (i >= words) break;
    step(weight[u].x, mean[u].x, square[u].x, gradient[u].x);
    step(weight[u].y, mean[u].y, square[u].y, gradient[u].y);
    step(weight[u].z, mean[u].z, square[u].z, gradient[u].z);
    step(weight[u].w, mean[u].w, square[u].w, gradient[u].w);
    reinterpret_cast<float4*>(w)[i] = weight[u];
    reinterpret_cast<float4*>(m)[i] = mean[u];
    reinterpret_cast<float4*>(v)[i] = square[u];
  }
}

}  // namespace headway::device
