#pragma once

#include <fmt/format.h>

#include "calibrate/cuda/device_api.h"
#include "calibrate/suite/backend.h"

namespace headway {

inline void check_cuda(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  int device = -1;
  (void)cudaGetDevice(&device);
  const std::string text = fmt::format("{}: {} ({}) on device {}", call, cudaGetErrorName(result),
                                       cudaGetErrorString(result), device);
  if (result != cudaErrorMemoryAllocation) throw EnvironmentError(text);
  (void)cudaGetLastError();  // which would be the next call's error, too
  throw Refused(text);
}
inline void check_cuda(cublasStatus_t result, const char* call) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  const std::string text = fmt::format("{}: {}", call, product_status(result));
  if (result == CUBLAS_STATUS_NOT_SUPPORTED) throw Refused(text);
  throw EnvironmentError(text);
}
/// Every call of CUDA, and of its libraries, goes through this one: the message names the call. What
/// the library does not support or has no memory for is Refused, and leaves the device usable.
#define HEADWAY_CUDA(call) ::headway::check_cuda((call), #call)

}  // namespace headway
