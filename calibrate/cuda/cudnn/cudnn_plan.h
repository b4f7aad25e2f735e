#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "calibrate/cuda/cudnn/cudnn_graph.h"

namespace headway {

/// What plans are made for: the device of a handle, or one that need not be there, as cuDNN
/// describes devices (CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR).
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;
  const CudnnDescriptor* properties = nullptr;  ///< where there is no handle
};

/// A device from its description in JSON, finished.
[[nodiscard]] CudnnDescriptor described_device(const std::string& json);

/// The kernels that cuDNN would take for a graph, the best first, as far as it can run them on the
/// target. Empty: it has none, or the driver's library is missing.
[[nodiscard]] std::vector<CudnnDescriptor> engine_choices(const CudnnDescriptor& graph,
                                                          const CudnnTarget& target);

/// A graph, compiled for a target.
class CudnnPlan {
 public:
  /// Takes the first choice that can be compiled. Throws EnvironmentError, with cuDNN's reason,
  /// where none can.
  CudnnPlan(CudnnGraph operations, const CudnnTarget& target);

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Puts it on the handle's stream. `memory` has the tensors in memory.
  void run(cudnnHandle_t handle, const std::map<CudnnGraph::Tensor, void*>& memory,
           void* workspace) const;

 private:
  CudnnGraph operations_;  ///< kept, as cuDNN does not say what it still refers to
  CudnnDescriptor graph_;
  std::vector<CudnnDescriptor> choices_;
  CudnnDescriptor plan_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace headway
