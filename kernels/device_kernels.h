#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/memory_kernel.h"

namespace headway {

/// Device buffers of a kernel; which of them one uses is as in its CPU twin. Activations are bf16
/// (`x`, `y`, `z`), Adam's state and gradient fp32 (`w`, `m`, `v`, `g`).
struct DeviceOperands {
  const void* x = nullptr;
  void* y = nullptr;
  void* z = nullptr;
  float* w = nullptr;
  float* m = nullptr;
  float* v = nullptr;
  const float* g = nullptr;
  const std::int32_t* index = nullptr;  ///< rows of a gather, targets of a cross-entropy
  std::int8_t* q = nullptr;
  float* scale = nullptr;  ///< of a quantised row
};

/// Starts a kernel on `elements` elements, rows of `kKernelRow` where it has rows (of which there
/// must be whole ones), and returns what the launch says.
[[nodiscard]] cudaError_t launch_memory_kernel(MemoryKernel kernel, const DeviceOperands& operands,
                                               std::size_t elements, cudaStream_t stream);

/// Starts a kernel that does nothing.
[[nodiscard]] cudaError_t launch_empty_kernel(cudaStream_t stream);

/// Copies within the device as a collective's kernel moves data: by few blocks, which leave most
/// multiprocessors to others. `bytes` is a multiple of 16, buffers are aligned to it.
[[nodiscard]] cudaError_t launch_few_block_copy(const void* from, void* to, std::size_t bytes,
                                                cudaStream_t stream);

/// Rounds `count` fp32 elements to bf16, as the weights after an update.
[[nodiscard]] cudaError_t launch_round_to_bf16(const float* from, void* to, std::size_t count,
                                               cudaStream_t stream);

/// Fills `count` bf16 elements with zero-mean noise (read as fp32, they are of like size):
/// multiplying zeros draws less power and so runs at higher clocks than training does.
[[nodiscard]] cudaError_t launch_random_bf16(void* target, std::size_t count, std::uint32_t seed,
                                             cudaStream_t stream);

}  // namespace headway
