#include "calibrate/cuda/cudnn/attention_run.h"

#include <algorithm>

#include "calibrate/cuda/cudnn/cudnn_check.h"

namespace headway {

AttentionMemory::AttentionMemory(const CompiledAttention& forward,
                                 const CompiledAttention* backward) {
  std::size_t workspace = 1;
  for (const CompiledAttention* pass : {&forward, backward}) {
    if (pass == nullptr) continue;
    workspace = std::max(workspace, pass->plan().workspace_bytes());
    for (const StoredTensor& stored : pass->stored()) {
      auto& memory = tensors_[stored.tensor];
      if (memory != nullptr) continue;
      memory = std::make_unique<DevicePool>(stored.bytes);
      bytes_ += stored.bytes;
    }
  }
  workspace_ = std::make_unique<DevicePool>(workspace);
}

void AttentionMemory::run(const CompiledAttention& pass, cudnnHandle_t handle,
                          cudaStream_t stream) const {
  HEADWAY_CUDA(cudnnSetStream(handle, stream));
  std::map<CudnnGraph::Tensor, void*> memory;
  for (const StoredTensor& stored : pass.stored()) {
    memory[static_cast<CudnnGraph::Tensor>(stored.tensor)] = at(stored.tensor);
  }
  pass.plan().run(handle, memory, workspace_->data());
}

}  // namespace headway
