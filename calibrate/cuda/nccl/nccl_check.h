#pragma once

#include <fmt/format.h>

#include <string>

#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/nccl/nccl_api.h"

namespace headway {

/// HEADWAY_CUDA(call) for calls of NCCL: the message ends with the library's own words. What is in
/// progress has not failed.
inline void check_cuda(ncclResult_t result, const char* call) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  std::string words = ncclGetLastError(nullptr);  // the last of this process, whose ever it is
  while (words.ends_with('\n')) words.pop_back();
  throw EnvironmentError(fmt::format("{}: {}{}{}", call, ncclGetErrorString(result),
                                     words.empty() ? "" : ", ", words));
}

}  // namespace headway
