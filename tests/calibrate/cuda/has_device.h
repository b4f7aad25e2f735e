#pragma once

#include <cuda_runtime.h>

namespace headway {

inline bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace headway
