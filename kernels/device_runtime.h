#pragma once

// The runtime that the device kernels are compiled for and launched by: CUDA's, or HIP's, which has
// the same calls under names of its own. The kernels and those who launch them use CUDA's names.
// Others who compile for AMD say so as HIP's headers ask for.
#if !defined(__HIP__) && !defined(__HIP_PLATFORM_AMD__)

#include <cuda_runtime.h>

#include <cstddef>

#if CUDART_VERSION < 13000
/// Before CUDA 13 the runtime takes a kernel for data only.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 threads,
                             void** arguments, std::size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, threads, arguments, shared,
                          stream);
}
#endif

#else

#include <hip/hip_runtime.h>

using cudaError_t = hipError_t;
using cudaStream_t = hipStream_t;
#define cudaErrorInvalidValue hipErrorInvalidValue

template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 threads, void** arguments,
                             std::size_t shared, cudaStream_t stream) {
  return hipLaunchKernel(reinterpret_cast<const void*>(kernel), grid, threads, arguments, shared,
                         stream);
}

#endif
