#pragma once

#include <functional>

#include "calibrate/cuda/device_api.h"

namespace headway {

/// Puts one repetition of an operation on a stream.
using Enqueue = std::function<void(cudaStream_t)>;

}  // namespace headway
