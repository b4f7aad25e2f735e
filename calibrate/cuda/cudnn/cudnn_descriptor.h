#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace headway {

/// An object of cuDNN's graph interface: attributes are set one by one, then it is finished and
/// cannot change any more. Throws EnvironmentError naming the attribute that cuDNN refused.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, const void* values,
           std::int64_t count = 1);
  void set(cudnnBackendAttributeName_t name, std::int64_t value);
  void set(cudnnBackendAttributeName_t name, bool value);
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value);
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values);
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  void set(cudnnBackendAttributeName_t name, const std::vector<CudnnDescriptor>& values);
  void finish();

  operator cudnnBackendDescriptor_t() const { return handle_; }  // NOLINT: it is one

 private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

}  // namespace headway
