#pragma once

#include "kernels/elementwise_kernels.cuh"

// Kernels that reduce over a row: one block a row, which it keeps in registers between the
// reduction and the result, so that the row is read once.

namespace headway::device {

constexpr int kRowThreads = 256;
constexpr int kPerThread = static_cast<int>(kKernelRow) / kRowThreads;

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Most {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// The combination of every thread's value, to all threads of the block.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float of_warp[kRowThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffffU, value, offset));
  }
  __syncthreads();  // the last call's values have been read
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warp[0];
  for (int warp = 1; warp < kRowThreads / 32; ++warp) value = combine(value, of_warp[warp]);
  return value;
}

struct Row {
  float values[kPerThread];
  std::size_t start;

  __device__ explicit Row(const Half* x) : start(blockIdx.x * kKernelRow + threadIdx.x) {
    for (int i = 0; i < kPerThread; ++i) values[i] = load(x, at(i));
  }
  __device__ std::size_t at(int i) const {
    return start + static_cast<std::size_t>(i) * kRowThreads;
  }
  template <class Map, class Combine>
  __device__ float reduced(float neutral, Map map, Combine combine) const {
    float result = neutral;
    for (int i = 0; i < kPerThread; ++i) result = combine(result, map(values[i]));
    return over_block(result, combine);
  }
};

constexpr float kRowLength = static_cast<float>(kKernelRow);

__global__ inline void layer_norm(const Half* x, Half* z) {
  const Row row(x);
  const float mean = row.reduced(0.0F, [](float v) { return v; }, Sum()) / kRowLength;
  const float squares =
      row.reduced(0.0F, [mean](float v) { return (v - mean) * (v - mean); }, Sum());
  const float scale = rsqrtf(squares / kRowLength + 1e-5F);
  for (int i = 0; i < kPerThread; ++i) store(z, row.at(i), (row.values[i] - mean) * scale);
}

__global__ inline void rms_norm(const Half* x, Half* z) {
  const Row row(x);
  const float squares = row.reduced(0.0F, [](float v) { return v * v; }, Sum());
  const float scale = rsqrtf(squares / kRowLength + 1e-5F);
  for (int i = 0; i < kPerThread; ++i) store(z, row.at(i), row.values[i] * scale);
}

/// As its CPU twin, with the mean of dz n and n both carrying the row's scale.
__global__ inline void layer_norm_backward(const Half* x, const Half* dz, Half* dx) {
  const Row row(x);
  const Row gradient(dz);
  const auto identity = [](float v) { return v; };
  const float mean = row.reduced(0.0F, identity, Sum()) / kRowLength;
  const float squares =
      row.reduced(0.0F, [mean](float v) { return (v - mean) * (v - mean); }, Sum());
  const float scale = rsqrtf(squares / kRowLength + 1e-5F);
  const float of_gradient = gradient.reduced(0.0F, identity, Sum()) / kRowLength;
  float products = 0.0F;
  for (int i = 0; i < kPerThread; ++i) products += gradient.values[i] * (row.values[i] - mean);
  const float along = over_block(products, Sum()) / kRowLength * scale * scale;
  for (int i = 0; i < kPerThread; ++i) {
    store(dx, row.at(i),
          scale * (gradient.values[i] - of_gradient - (row.values[i] - mean) * along));
  }
}

__global__ inline void softmax_backward(const Half* p, const Half* dp, Half* dx) {
  const Row row(p);
  const Row gradient(dp);
  float products = 0.0F;
  for (int i = 0; i < kPerThread; ++i) products += row.values[i] * gradient.values[i];
  const float sum = over_block(products, Sum());
  for (int i = 0; i < kPerThread; ++i) {
    store(dx, row.at(i), row.values[i] * (gradient.values[i] - sum));
  }
}

/// Softmax; with targets, less one at the target: the gradient of the cross-entropy.
__global__ inline void softmax(const Half* x, const std::int32_t* target, Half* z) {
  Row row(x);
  const float most = row.reduced(-INFINITY, [](float v) { return v; }, Most());
  for (float& value : row.values) value = __expf(value - most);
  const float scale = 1.0F / row.reduced(0.0F, [](float v) { return v; }, Sum());
  const std::size_t first = blockIdx.x * kKernelRow;
  for (int i = 0; i < kPerThread; ++i) {
    const bool is_target =
        target != nullptr && row.at(i) - first == static_cast<std::size_t>(target[blockIdx.x]);
    store(z, row.at(i), row.values[i] * scale - (is_target ? 1.0F : 0.0F));
  }
}

__global__ inline void quantise(const Half* x, std::int8_t* q, float* scale) {
  const Row row(x);
  const float most = row.reduced(0.0F, [](float v) { return fabsf(v); }, Most());
  if (threadIdx.x == 0) scale[blockIdx.x] = most / 127.0F;
  const float inverse = most > 0.0F ? 127.0F / most : 0.0F;
  for (int i = 0; i < kPerThread; ++i) {
    q[row.at(i)] = static_cast<std::int8_t>(roundf(row.values[i] * inverse));
  }
}

}  // namespace headway::device
