#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "calibrate/cuda/cudnn/attention_graph.h"
#include "calibrate/cuda/cudnn/cudnn_plan.h"
#include "calibrate/cuda/device_resources.h"

namespace headway {

/// A pass of attention with its memory on the current device.
class CompiledAttention {
 public:
  CompiledAttention(AttentionGraph graph, const CudnnTarget& target)
      : stored_(std::move(graph.stored)), plan_(std::move(graph.operations), target) {}
  [[nodiscard]] const std::vector<StoredTensor>& stored() const { return stored_; }
  [[nodiscard]] const CudnnPlan& plan() const { return plan_; }

 private:
  std::vector<StoredTensor> stored_;
  CudnnPlan plan_;
};

/// The tensors of both passes of attention of one shape.
class AttentionMemory {
 public:
  /// Room for the tensors of `forward`, and of `backward` where it is not null.
  AttentionMemory(const CompiledAttention& forward, const CompiledAttention* backward);

  [[nodiscard]] void* at(AttentionTensor tensor) const { return tensors_.at(tensor)->data(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Puts a pass on a stream.
  void run(const CompiledAttention& pass, cudnnHandle_t handle, cudaStream_t stream) const;

 private:
  std::map<AttentionTensor, std::unique_ptr<DevicePool>> tensors_;
  std::unique_ptr<DevicePool> workspace_;
  std::size_t bytes_ = 0;
};

}  // namespace headway
