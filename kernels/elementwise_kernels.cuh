#pragma once

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu_kernels.h"

// The arithmetic of the element-wise kernels, one element at a time; formulas as in the CPU twins.

namespace headway::device {

using Half = __nv_bfloat16;

__device__ inline float load(const Half* p, std::size_t i) { return __bfloat162float(p[i]); }
__device__ inline void store(Half* p, std::size_t i, float value) {
  p[i] = __float2bfloat16(value);
}

/// Elements from this thread on, a grid apart.
template <class Body>
__device__ void for_each_element(std::size_t elements, Body body) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
       i < elements; i += stride) {
    body(i);
  }
}

__device__ inline float gelu_half(float x) {
  const float u = 0.7978845608F * (x + 0.044715F * x * x * x);
  return 1.0F - 1.0F / (__expf(2.0F * u) + 1.0F);
}

__global__ inline void residual_add(const Half* x, const Half* y, Half* z, std::size_t n) {
  for_each_element(n, [=](std::size_t i) { store(z, i, load(x, i) + load(y, i)); });
}

__global__ inline void gelu(const Half* x, Half* z, std::size_t n) {
  for_each_element(n, [=](std::size_t i) {
    const float value = load(x, i);
    store(z, i, value * gelu_half(value));
  });
}

__global__ inline void gelu_backward(const Half* x, const Half* dz, Half* dx, std::size_t n) {
  for_each_element(n, [=](std::size_t i) {
    const float value = load(x, i);
    const float half = gelu_half(value);
    const float slope = 0.7978845608F * (1.0F + 3.0F * 0.044715F * value * value);
    store(dx, i, load(dz, i) * (half + 2.0F * value * half * (1.0F - half) * slope));
  });
}

__global__ inline void swiglu(const Half* x, const Half* gate, Half* z, std::size_t n) {
  for_each_element(n, [=](std::size_t i) {
    const float value = load(x, i);
    store(z, i, value / (1.0F + __expf(-value)) * load(gate, i));
  });
}

__global__ inline void rotary(const Half* x, Half* z, std::size_t n, std::size_t row) {
  for_each_element(n / 2, [=](std::size_t pair) {
    const std::size_t in_row = pair % (row / 2);
    const auto position = static_cast<float>(pair / (row / 2));
    // 10000^(-2i/row) = 2^(-2i/row log2 10000)
    const float rate =
        exp2f(-2.0F * static_cast<float>(in_row) / static_cast<float>(row) * 13.28771F);
    float sine = 0.0F;
    float cosine = 0.0F;
    __sincosf(position * rate, &sine, &cosine);
    const float even = load(x, 2 * pair);
    const float odd = load(x, 2 * pair + 1);
    store(z, 2 * pair, even * cosine - odd * sine);
    store(z, 2 * pair + 1, even * sine + odd * cosine);
  });
}

__global__ inline void embedding_gather(const Half* table, const std::int32_t* index, Half* z,
                                        std::size_t n, std::size_t row) {
  for_each_element(n, [=](std::size_t i) {
    z[i] = table[static_cast<std::size_t>(index[i / row]) * row + i % row];
  });
}

__global__ inline void sparsify(const Half* x, float threshold, Half* kept, Half* rest,
                                std::size_t n) {
  for_each_element(n, [=](std::size_t i) {
    const float value = load(x, i);
    const bool keep = fabsf(value) >= threshold;
    store(kept, i, keep ? value : 0.0F);
    store(rest, i, keep ? 0.0F : value);
  });
}

__global__ inline void adam(float* w, float* m, float* v, const float* g, AdamRates r,
                            std::size_t n) {
  for_each_element(n, [=](std::size_t i) {
    m[i] = r.beta1 * m[i] + (1.0F - r.beta1) * g[i];
    v[i] = r.beta2 * v[i] + (1.0F - r.beta2) * g[i] * g[i];
    w[i] -= r.rate * m[i] / (sqrtf(v[i]) + r.epsilon);
  });
}

}  // namespace headway::device
