#pragma once

#include "kernels/elementwise_kernels.cuh"

// Kernels that reduce over a row: one warp a row, which it keeps in registers between the reduction
// and the result, so that the row is read once and nothing waits for another warp. A thread has four
// words of a row in flight (64 bytes, 128 of two rows).

namespace headway::device {

constexpr int kRowThreads = 128;
constexpr unsigned kRowsOfBlock = kRowThreads / 32;
constexpr int kRowUnroll = static_cast<int>(kRowWords) / 32;

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Most {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// The combination of every lane's value, to all lanes of the warp.
template <class Combine>
__device__ float over_warp(float value, Combine combine) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    value = combine(value, from_lane(value, offset));
  }
  return value;
}

/// The row of this thread's warp. All threads of a warp have the same one, or none.
__device__ inline std::size_t row_of_warp() {
  return blockIdx.x * static_cast<std::size_t>(kRowsOfBlock) + threadIdx.x / 32U;
}

struct Row {
  float values[kRowUnroll][kWordHalves];
  std::size_t first_word;

  __device__ Row(const Half* x, std::size_t row)
      : first_word(row * kRowWords + threadIdx.x % 32U) {
    uint4 in[kRowUnroll];
#pragma unroll
    for (int u = 0; u < kRowUnroll; ++u) in[u] = reinterpret_cast<const uint4*>(x)[word(u)];
#pragma unroll
    for (int u = 0; u < kRowUnroll; ++u) unpack(in[u], values[u]);
  }
  __device__ std::size_t word(int u) const { return first_word + static_cast<unsigned>(32 * u); }
  /// The place in its row of element i of this thread's word u.
  __device__ static unsigned at(int u, int i) {
    return (threadIdx.x % 32U + static_cast<unsigned>(32 * u)) * kWordHalves +
           static_cast<unsigned>(i);
  }
  template <class Map, class Combine>
  __device__ float reduced(float neutral, Map map, Combine combine) const {
    float result = neutral;
#pragma unroll
    for (int u = 0; u < kRowUnroll; ++u) {
#pragma unroll
      for (int i = 0; i < kWordHalves; ++i) result = combine(result, map(values[u][i]));
    }
    return over_warp(result, combine);
  }
  /// value = map(value, u, i) for all elements, to be stored or reduced afterwards.
  template <class Map>
  __device__ void change(Map map) {
#pragma unroll
    for (int u = 0; u < kRowUnroll; ++u) {
#pragma unroll
      for (int i = 0; i < kWordHalves; ++i) values[u][i] = map(values[u][i], u, i);
    }
  }
  __device__ void store(Half* z) const {
#pragma unroll
    for (int u = 0; u < kRowUnroll; ++u) reinterpret_cast<uint4*>(z)[word(u)] = packed(values[u]);
  }
};

/// The sum of a row's products with another.
__device__ inline float dot(const Row& a, const Row& b, float less_a = 0.0F) {
  float products = 0.0F;
#pragma unroll
  for (int u = 0; u < kRowUnroll; ++u) {
#pragma unroll
    for (int i = 0; i < kWordHalves; ++i) products += (a.values[u][i] - less_a) * b.values[u][i];
  }
  return over_warp(products, Sum());
}

constexpr float kRowLength = static_cast<float>(kKernelRow);

struct Moments {
  float mean = 0.0F;
  float scale = 0.0F;
};
__device__ inline Moments moments(const Row& row) {
  const float mean = row.reduced(0.0F, [](float v) { return v; }, Sum()) / kRowLength;
  const float squares =
      row.reduced(0.0F, [mean](float v) { return (v - mean) * (v - mean); }, Sum());
  return {mean, rsqrtf(squares / kRowLength + 1e-5F)};
}

__global__ void layer_norm(const Half* __restrict__ x, Half* __restrict__ z,
                                  std::size_t rows) {
  if (row_of_warp() >= rows) return;
  Row row(x, row_of_warp());
  const Moments of = moments(row);
  row.change([of](float v, int, int) { return (v - of.mean) * of.scale; });
  row.store(z);
}

__global__ void rms_norm(const Half* __restrict__ x, Half* __restrict__ z,
                                std::size_t rows) {
  if (row_of_warp() >= rows) return;
  Row row(x, row_of_warp());
  const float squares = row.reduced(0.0F, [](float v) { return v * v; }, Sum());
  const float scale = rsqrtf(squares / kRowLength + 1e-5F);
  row.change([scale](float v, int, int) { return v * scale; });
  row.store(z);
}

/// As its CPU twin, with the mean of dz n and n both carrying the row's scale.
__global__ void layer_norm_backward(const Half* __restrict__ x, const Half* __restrict__ dz,
                                           Half* __restrict__ dx, std::size_t rows) {
  if (row_of_warp() >= rows) return;
  const Row row(x, row_of_warp());
  Row gradient(dz, row_of_warp());
  const Moments of = moments(row);
  const float of_gradient =
      gradient.reduced(0.0F, [](float v) { return v; }, Sum()) / kRowLength;
  const float along = dot(row, gradient, of.mean) / kRowLength * of.scale * of.scale;
  gradient.change([&row, of, of_gradient, along](float v, int u, int i) {
    return of.scale * (v - of_gradient - (row.values[u][i] - of.mean) * along);
  });
  gradient.store(dx);
}

__global__ void softmax_backward(const Half* __restrict__ p, const Half* __restrict__ dp,
                                        Half* __restrict__ dx, std::size_t rows) {
  if (row_of_warp() >= rows) return;
  const Row row(p, row_of_warp());
  Row gradient(dp, row_of_warp());
  const float sum = dot(row, gradient);
  gradient.change([&row, sum](float v, int u, int i) { return row.values[u][i] * (v - sum); });
  gradient.store(dx);
}

/// Softmax; with targets, less one at the target: the gradient of the cross-entropy.
__global__ void softmax(const Half* __restrict__ x, const std::int32_t* __restrict__ target,
                               Half* __restrict__ z, std::size_t rows) {
  if (row_of_warp() >= rows) return;
  Row row(x, row_of_warp());
  const float most = row.reduced(-INFINITY, [](float v) { return v; }, Most());
  row.change([most](float v, int, int) { return __expf(v - most); });
  const float scale = 1.0F / row.reduced(0.0F, [](float v) { return v; }, Sum());
  const unsigned wanted =
      target == nullptr ? ~0U : static_cast<unsigned>(target[row_of_warp()]);
  row.change([scale, wanted](float v, int u, int i) {
    return v * scale - (Row::at(u, i) == wanted ? 1.0F : 0.0F);
  });
  row.store(z);
}

__global__ void quantise(const Half* __restrict__ x, std::int8_t* __restrict__ q,
                                float* __restrict__ scale, std::size_t rows) {
  if (row_of_warp() >= rows) return;
  const Row row(x, row_of_warp());
  const float most = row.reduced(0.0F, [](float v) { return fabsf(v); }, Most());
  if (threadIdx.x % 32U == 0) scale[row_of_warp()] = most / 127.0F;
  const float inverse = most > 0.0F ? 127.0F / most : 0.0F;
  const auto four = [inverse](const float* v) {
    unsigned bytes = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int whole = static_cast<int>(roundf(v[i] * inverse));
      bytes |= (static_cast<unsigned>(whole) & 0xffU) << static_cast<unsigned>(8 * i);
    }
    return bytes;
  };
#pragma unroll
  for (int u = 0; u < kRowUnroll; ++u) {
    reinterpret_cast<uint2*>(q)[row.word(u)] = {four(row.values[u]), four(row.values[u] + 4)};
  }
}

}  // namespace headway::device
