#include "kernels/device_kernels.h"
#include "kernels/row_kernels.cuh"

namespace headway {
namespace {

constexpr int kThreads = 256;

__global__ void empty() {}

__global__ void copy_words(const uint4* from, uint4* to, std::size_t words) {
  device::for_each_element(words, [=](std::size_t i) { to[i] = from[i]; });
}

/// A hash of the index (Wellons, "lowbias32"), as a value in [-0.5, 0.5).
__device__ float noise(std::size_t i, std::uint32_t seed) {
  std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761U + seed;
  h = (h ^ (h >> 16U)) * 0x7feb352dU;
  h = (h ^ (h >> 15U)) * 0x846ca68bU;
  h ^= h >> 16U;
  return static_cast<float>(h >> 8U) / 16777216.0F - 0.5F;
}

__global__ void random_bf16(device::Half* target, std::size_t count, std::uint32_t seed) {
  device::for_each_element(count, [=](std::size_t i) { device::store(target, i, noise(i, seed)); });
}

__global__ void round_to_bf16(const float* from, device::Half* to, std::size_t count) {
  device::for_each_element(count, [=](std::size_t i) { device::store(to, i, from[i]); });
}

/// Enough blocks to fill any device; each thread then takes several elements.
unsigned int blocks(std::size_t elements) {
  constexpr std::size_t kMost = 1U << 14U;
  const std::size_t needed = (elements + kThreads - 1) / kThreads;
  return static_cast<unsigned int>(needed < kMost ? needed : kMost);
}

}  // namespace

cudaError_t launch_memory_kernel(MemoryKernel kernel, const DeviceOperands& o, std::size_t elements,
                                 cudaStream_t stream) {
  if (elements == 0 || elements % kKernelRow != 0) return cudaErrorInvalidValue;
  using device::Half;
  const auto* x = static_cast<const Half*>(o.x);
  auto* y = static_cast<Half*>(o.y);
  auto* z = static_cast<Half*>(o.z);
  const unsigned int grid = blocks(elements);
  const auto rows = static_cast<unsigned int>(elements / kKernelRow);
  constexpr int kRow = device::kRowThreads;
  switch (kernel) {
    case MemoryKernel::residual_add:
      device::residual_add<<<grid, kThreads, 0, stream>>>(x, y, z, elements);
      break;
    case MemoryKernel::layer_norm:
      device::layer_norm<<<rows, kRow, 0, stream>>>(x, z);
      break;
    case MemoryKernel::rms_norm:
      device::rms_norm<<<rows, kRow, 0, stream>>>(x, z);
      break;
    case MemoryKernel::layer_norm_backward:
      device::layer_norm_backward<<<rows, kRow, 0, stream>>>(x, y, z);
      break;
    case MemoryKernel::softmax_backward:
      device::softmax_backward<<<rows, kRow, 0, stream>>>(x, y, z);
      break;
    case MemoryKernel::softmax:
      device::softmax<<<rows, kRow, 0, stream>>>(x, nullptr, z);
      break;
    case MemoryKernel::gelu:
      device::gelu<<<grid, kThreads, 0, stream>>>(x, z, elements);
      break;
    case MemoryKernel::gelu_backward:
      device::gelu_backward<<<grid, kThreads, 0, stream>>>(x, y, z, elements);
      break;
    case MemoryKernel::swiglu:
      device::swiglu<<<grid, kThreads, 0, stream>>>(x, y, z, elements);
      break;
    case MemoryKernel::rotary:
      device::rotary<<<grid, kThreads, 0, stream>>>(x, z, elements, kKernelRow);
      break;
    case MemoryKernel::cross_entropy:
      device::softmax<<<rows, kRow, 0, stream>>>(x, o.index, z);
      break;
    case MemoryKernel::embedding_gather:
      device::embedding_gather<<<grid, kThreads, 0, stream>>>(x, o.index, z, elements, kKernelRow);
      break;
    case MemoryKernel::adam:
      device::adam<<<grid, kThreads, 0, stream>>>(o.w, o.m, o.v, o.g, AdamRates{}, elements);
      break;
    case MemoryKernel::quantise:
      device::quantise<<<rows, kRow, 0, stream>>>(x, o.q, o.scale);
      break;
    case MemoryKernel::sparsify:
      device::sparsify<<<grid, kThreads, 0, stream>>>(x, 0.45F, z, y, elements);
      break;
  }
  return cudaGetLastError();
}

cudaError_t launch_empty_kernel(cudaStream_t stream) {
  empty<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_few_block_copy(const void* from, void* to, std::size_t bytes,
                                  cudaStream_t stream) {
  // NCCL runs a block a channel, of 512 threads by default (NCCL_NTHREADS); between the devices of
  // a node it uses 16 channels or more.
  constexpr unsigned int kChannels = 16;
  constexpr unsigned int kChannelThreads = 512;
  if (bytes == 0 || bytes % sizeof(uint4) != 0) return cudaErrorInvalidValue;
  copy_words<<<kChannels, kChannelThreads, 0, stream>>>(
      static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes / sizeof(uint4));
  return cudaGetLastError();
}

cudaError_t launch_round_to_bf16(const float* from, void* to, std::size_t count,
                                 cudaStream_t stream) {
  if (count == 0) return cudaErrorInvalidValue;
  round_to_bf16<<<blocks(count), kThreads, 0, stream>>>(from, static_cast<device::Half*>(to),
                                                        count);
  return cudaGetLastError();
}

cudaError_t launch_random_bf16(void* target, std::size_t count, std::uint32_t seed,
                               cudaStream_t stream) {
  random_bf16<<<blocks(count), kThreads, 0, stream>>>(static_cast<device::Half*>(target), count,
                                                      seed);
  return cudaGetLastError();
}

}  // namespace headway
