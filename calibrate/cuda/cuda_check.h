#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "sim/base/diagnostic.h"

namespace headway {

inline void check_cuda(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  int device = -1;
  (void)cudaGetDevice(&device);
  throw EnvironmentError(fmt::format("{}: {} ({}) on device {}", call, cudaGetErrorName(result),
                                     cudaGetErrorString(result), device));
}
inline void check_cuda(cublasStatus_t result, const char* call) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  throw EnvironmentError(fmt::format("{}: {}", call, cublasLtGetStatusString(result)));
}
/// Every call of CUDA, and of its libraries, goes through this one: the message names the call.
#define HEADWAY_CUDA(call) ::headway::check_cuda((call), #call)

}  // namespace headway
