#pragma once

#include <fmt/format.h>

#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/nccl/nccl_api.h"

namespace headway {

/// HEADWAY_CUDA(call) for calls of NCCL. What is in progress has not failed.
inline void check_cuda(ncclResult_t result, const char* call) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw EnvironmentError(fmt::format("{}: {}", call, ncclGetErrorString(result)));
}

}  // namespace headway
