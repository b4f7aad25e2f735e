#pragma once

#include "kernels/row_kernels.cuh"

// The loss over a vocabulary, whose rows no warp keeps: a block a row, which reads it twice, for
// the sum of exponentials (Milakov and Gimelshein 2018, "Online normalizer calculation for
// softmax") and for the gradient. A thread has four words of 16 bytes in flight.

namespace headway::device {

constexpr int kVocabularyThreads = 1024;
constexpr unsigned kVocabularyWords = kVocabularyRow / kWordHalves;

/// The combination of all threads' values of a block of kVocabularyThreads, to all of them.
template <class Combine>
__device__ float over_block(float value, Combine combine) {
  __shared__ float of_warps[kVocabularyThreads / 32];
  value = over_warp(value, combine);
  if (threadIdx.x % 32U == 0) of_warps[threadIdx.x / 32U] = value;
  __syncthreads();
  value = over_warp(of_warps[threadIdx.x % 32U], combine);
  __syncthreads();  // before the next one writes there
  return value;
}

/// use(values, word) for all words of the row that are this thread's.
template <class Use>
__device__ void for_each_word_of_row(const uint4* row, Use use) {
  for (unsigned first = threadIdx.x; first < kVocabularyWords;
       first += kUnroll * kVocabularyThreads) {
    uint4 in[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) in[u] = row[first + u * kVocabularyThreads];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      float values[kWordHalves];
      unpack(in[u], values);
      use(values, first + u * kVocabularyThreads);
    }
  }
}

/// The gradient of -log softmax(x)[target] for each of `rows`; a block each.
__global__ void vocabulary_loss(const Half* __restrict__ x, const std::int32_t* __restrict__ target,
                                Half* __restrict__ dx, std::size_t rows) {
  if (blockIdx.x >= rows) return;
  const std::size_t first_word = blockIdx.x * static_cast<std::size_t>(kVocabularyWords);
  const uint4* const row = reinterpret_cast<const uint4*>(x) + first_word;
  uint4* const gradient = reinterpret_cast<uint4*>(dx) + first_word;
  float most = -INFINITY;
  float sum = 0.0F;
  for_each_word_of_row(row, [&most, &sum](const float(&values)[kWordHalves], unsigned) {
    float larger = most;
#pragma unroll
    for (int i = 0; i < kWordHalves; ++i) larger = fmaxf(larger, values[i]);
    sum *= __expf(most - larger);
    most = larger;
#pragma unroll
    for (int i = 0; i < kWordHalves; ++i) sum += __expf(values[i] - most);
  });
  const float most_of_all = over_block(most, Most());
  const float scale = 1.0F / over_block(sum * __expf(most - most_of_all), Sum());
  const auto wanted = static_cast<unsigned>(target[blockIdx.x]);
  for_each_word_of_row(row, [=](float(&values)[kWordHalves], unsigned word) {
#pragma unroll
    for (int i = 0; i < kWordHalves; ++i) {
      const bool is_target = word * kWordHalves + static_cast<unsigned>(i) == wanted;
      values[i] = __expf(values[i] - most_of_all) * scale - (is_target ? 1.0F : 0.0F);
    }
    gradient[word] = packed(values);
  });
}

}  // namespace headway::device
