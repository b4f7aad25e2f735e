#include <type_traits>

#include "kernels/device_kernels.h"
#include "kernels/row_kernels.cuh"
#include "kernels/utility_kernels.cuh"
#include "kernels/vocabulary_kernels.cuh"

namespace headway {
namespace {

/// kernel<<<grid, threads, 0, stream>>>(arguments...), in a form that is C++ too.
template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), std::size_t grid, int threads,
                   cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  void* pointers[sizeof...(Parameters) + 1] = {&arguments...};
  return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(grid)),
                          dim3(static_cast<unsigned>(threads)), pointers, 0, stream);
}

std::size_t blocks(std::size_t items, std::size_t of_block) {
  return (items + of_block - 1) / of_block;
}

}  // namespace

cudaError_t launch_memory_kernel(MemoryKernel kernel, const DeviceOperands& o, std::size_t elements,
                                 cudaStream_t stream) {
  if (elements == 0 || elements % whole_elements(kernel) != 0) return cudaErrorInvalidValue;
  using namespace device;
  const auto* x = static_cast<const Half*>(o.x);
  auto* y = static_cast<Half*>(o.y);
  auto* z = static_cast<Half*>(o.z);
  const std::size_t rows = elements / kKernelRow;
  const auto by_word = [&](auto* function, auto... arguments) {
    const std::size_t grid = blocks(elements / kWordHalves, kThreads * kUnroll);
    return launch(function, grid, kThreads, stream, arguments...);
  };
  const auto by_row = [&](auto* function, auto... arguments) {
    return launch(function, blocks(rows, kRowsOfBlock), kRowThreads, stream, arguments..., rows);
  };
  switch (kernel) {
    case MemoryKernel::residual_add:
      return by_word(&residual_add, x, y, z, elements);
    case MemoryKernel::layer_norm:
      return by_row(&layer_norm, x, z);
    case MemoryKernel::rms_norm:
      return by_row(&rms_norm, x, z);
    case MemoryKernel::layer_norm_backward:
      return by_row(&layer_norm_backward, x, y, z);
    case MemoryKernel::softmax_backward:
      return by_row(&softmax_backward, x, y, z);
    case MemoryKernel::softmax:
      return by_row(&softmax, x, nullptr, z);
    case MemoryKernel::gelu:
      return by_word(&gelu, x, z, elements);
    case MemoryKernel::gelu_backward:
      return by_word(&gelu_backward, x, y, z, elements);
    case MemoryKernel::swiglu:
      return by_word(&swiglu, x, y, z, elements);
    case MemoryKernel::rotary:
      return by_word(&rotary, x, z, elements);
    case MemoryKernel::cross_entropy:
      return by_row(&softmax, x, o.index, z);
    case MemoryKernel::embedding_gather:
      return by_word(&embedding_gather, x, o.index, z, elements);
    case MemoryKernel::adam:
      return launch(&adam, blocks(elements / 4, kThreads * kAdamUnroll), kThreads, stream, o.w, o.m,
                    o.v, o.g, AdamRates{}, elements);
    case MemoryKernel::quantise:
      return by_row(&quantise, x, o.q, o.scale);
    case MemoryKernel::sparsify:
      return by_word(&sparsify, x, 0.45F, z, y, elements);
    case MemoryKernel::vocabulary_loss: {
      const std::size_t texts = elements / kVocabularyRow;
      return launch(&vocabulary_loss, texts, kVocabularyThreads, stream, x, o.index, z, texts);
    }
    case MemoryKernel::cast_transpose:
      return launch(&cast_transpose, rows / kCastRows * kCastTilesAcross, kCastThreads, stream, x,
                    o.inverse_scale, o.bits, o.transposed, rows);
  }
  return cudaErrorInvalidValue;
}

cudaError_t launch_empty_kernel(cudaStream_t stream) {
  return launch(&device::empty, 1, 1, stream);
}

cudaError_t launch_few_block_copy(const void* from, void* to, std::size_t bytes,
                                  cudaStream_t stream) {
  // NCCL runs a block a channel, of 512 threads by default (NCCL_NTHREADS); between the devices of
  // a node it uses 16 channels or more.
  constexpr int kChannels = 16;
  constexpr int kChannelThreads = 512;
  if (bytes == 0 || bytes % sizeof(uint4) != 0) return cudaErrorInvalidValue;
  return launch(&device::copy_words, kChannels, kChannelThreads, stream,
                static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes / sizeof(uint4));
}

cudaError_t launch_round_to_bf16(const float* from, void* to, std::size_t count,
                                 cudaStream_t stream) {
  const std::size_t words = count / device::kWordHalves;
  if (count == 0 || count % device::kWordHalves != 0) return cudaErrorInvalidValue;
  return launch(&device::round_to_bf16, blocks(words, device::kThreads * device::kUnroll),
                device::kThreads, stream, from, static_cast<device::Half*>(to), words);
}

cudaError_t launch_random(RandomFormat format, void* target, std::size_t bytes, std::uint32_t seed,
                          cudaStream_t stream) {
  constexpr int kThreads = device::kThreads;
  if (format != RandomFormat::bf16) {
    return launch(format == RandomFormat::e4m3 ? &device::random_e4m3 : &device::random_e2m1,
                  blocks(bytes, kThreads), kThreads, stream, static_cast<std::uint8_t*>(target),
                  bytes, seed);
  }
  const std::size_t count = bytes / sizeof(device::Half);
  return launch(&device::random_bf16, blocks(count, kThreads), kThreads, stream,
                static_cast<device::Half*>(target), count, seed);
}

cudaError_t launch_hold(const volatile int* flag, volatile int* expired, cudaStream_t stream) {
  constexpr long long kMost = 400'000'000;  // a fifth of a second
  return launch(&device::hold, 1, 1, stream, flag, kMost, expired);
}

cudaError_t launch_stamp(unsigned long long* begun_and_ended, cudaStream_t stream) {
  constexpr long long kClocks = 10'000;  // some microseconds
  return launch(&device::stamp, 1, 1, stream, kClocks, begun_and_ended);
}

}  // namespace headway
