#pragma once

#include <memory>

#include "calibrate/cuda/captured_work.h"
#include "calibrate/suite/backend.h"

namespace headway {

/// Times an operation on the current device: as many repetitions as take some hundred microseconds,
/// captured in a graph, so that the host's launches do not show; events around the graph.
[[nodiscard]] std::unique_ptr<Operation> device_operation(Enqueue enqueue);

/// Times how long the host needs to start one.
[[nodiscard]] std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue);

}  // namespace headway
