#pragma once

#include <memory>

#include "calibrate/cuda/captured_work.h"
#include "calibrate/suite/backend.h"

namespace headway {

/// Times an operation on the current device: as many repetitions as take some hundred microseconds,
/// captured in a graph, so that the host's launches do not show; events around the graph. `gap`
/// passes between two kernels of a graph and is taken off.
[[nodiscard]] std::unique_ptr<Operation> device_operation(Enqueue enqueue, Seconds gap);

/// Times the gap between two kernels of a graph, by what these say of their beginnings and ends.
[[nodiscard]] std::unique_ptr<Operation> gap_operation();

/// Times how long the host needs to start one.
[[nodiscard]] std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue);

}  // namespace headway
