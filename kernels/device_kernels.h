#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device_runtime.h"
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
  std::uint8_t* bits = nullptr;  ///< of a cast, whose transpose goes to `transposed`
  std::uint8_t* transposed = nullptr;
  float inverse_scale = 1.0F;  ///< of a cast
};

/// Starts a kernel on `elements` elements, a multiple of `whole_elements`, and returns what the
/// launch says.
[[nodiscard]] cudaError_t launch_memory_kernel(MemoryKernel kernel, const DeviceOperands& operands,
                                               std::size_t elements, cudaStream_t stream);

/// Starts a kernel that does nothing.
[[nodiscard]] cudaError_t launch_empty_kernel(cudaStream_t stream);

/// Copies within the device as a collective's kernel moves data: by few blocks, which leave most
/// multiprocessors to others. `bytes` is a multiple of 16, buffers are aligned to it.
[[nodiscard]] cudaError_t launch_few_block_copy(const void* from, void* to, std::size_t bytes,
                                                cudaStream_t stream);

/// Rounds `count` fp32 elements, a multiple of 8, to bf16, as the weights after an update.
[[nodiscard]] cudaError_t launch_round_to_bf16(const float* from, void* to, std::size_t count,
                                               cudaStream_t stream);

/// How random numbers are stored. Bits of bf16 may be read as fp16, tf32 or fp32, and none is an
/// infinity or no number there; read as e4m3, one byte of 128 would be none. Of e2m1 there are two
/// a byte.
enum class RandomFormat { bf16, e4m3, e2m1 };

/// Fills `bytes` with numbers that are about normal, as weights, activations and gradients are: of
/// deviation 1, or, in e4m3 and e2m1, scaled to their range. What zeros or few values multiply
/// draws less power and so runs at higher clocks than training does.
[[nodiscard]] cudaError_t launch_random(RandomFormat format, void* target, std::size_t bytes,
                                        std::uint32_t seed, cudaStream_t stream);

/// Keeps the stream from going on until the host sets `flag`, so that what is put on it meanwhile
/// begins at once and nothing of it waits for the host. Both are memory of the host that the device
/// sees. It gives up after some tenths of a second, saying so in `expired`.
[[nodiscard]] cudaError_t launch_hold(const volatile int* flag, volatile int* expired,
                                      cudaStream_t stream);

/// A kernel of some microseconds that tells when it began and ended (ns, two numbers).
[[nodiscard]] cudaError_t launch_stamp(unsigned long long* begun_and_ended, cudaStream_t stream);

}  // namespace headway
