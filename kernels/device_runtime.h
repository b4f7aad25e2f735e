#pragma once

// The runtime that the device kernels are compiled for and launched by: CUDA's, or HIP's, which has
// the same calls under names of its own. The kernels and those who launch them use CUDA's names.
#ifndef __HIP__

#include <cuda_runtime.h>

#else

#include <hip/hip_runtime.h>

using cudaError_t = hipError_t;
using cudaStream_t = hipStream_t;
inline constexpr cudaError_t cudaErrorInvalidValue = hipErrorInvalidValue;

template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return hipLaunchKernel(reinterpret_cast<const void*>(kernel), grid, threads, arguments, shared,
                         stream);
}

#endif
