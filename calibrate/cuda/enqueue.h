#pragma once

#include <cuda_runtime.h>

#include <functional>

namespace headway {

/// Puts one repetition of an operation on a stream.
using Enqueue = std::function<void(cudaStream_t)>;

}  // namespace headway
