#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

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
inline void check_cuda(ncclResult_t result, const char* call) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw EnvironmentError(fmt::format("{}: {}", call, ncclGetErrorString(result)));
}

/// Every call of CUDA, cuBLASLt and NCCL goes through this one: the message names the call.
#define HEADWAY_CUDA(call) ::headway::check_cuda((call), #call)

}  // namespace headway
