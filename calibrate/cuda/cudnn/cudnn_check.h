#pragma once

#include <cudnn_graph.h>
#include <fmt/format.h>

#include "sim/base/diagnostic.h"

namespace headway {

/// HEADWAY_CUDA(call) for calls of cuDNN: the message ends with the library's own words.
inline void check_cuda(cudnnStatus_t result, const char* call) {
  if (result == CUDNN_STATUS_SUCCESS) return;
  char text[512] = "";
  cudnnGetLastErrorString(text, sizeof text);
  throw EnvironmentError(fmt::format("{}: {}{}{}", call, cudnnGetErrorString(result),
                                     *text == '\0' ? "" : ", ", text));
}

}  // namespace headway
