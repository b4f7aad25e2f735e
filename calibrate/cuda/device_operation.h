#pragma once

#include <functional>
#include <memory>

#include "calibrate/cuda/device_resources.h"
#include "calibrate/suite/backend.h"

namespace headway {

/// Puts one repetition of an operation on a stream.
using Enqueue = std::function<void(cudaStream_t)>;

/// Times an operation on the current device: as many repetitions as take some hundred microseconds,
/// captured in a graph, so that the host's launches do not show; events around the graph.
[[nodiscard]] std::unique_ptr<Operation> device_operation(Enqueue enqueue);

/// Times how long the host needs to start one.
[[nodiscard]] std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue);

}  // namespace headway
