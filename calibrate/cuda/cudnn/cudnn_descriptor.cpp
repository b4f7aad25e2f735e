#include "calibrate/cuda/cudnn/cudnn_descriptor.h"

#include "calibrate/cuda/cuda_check.h"
#include "calibrate/cuda/cudnn/cudnn_check.h"

namespace headway {

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  HEADWAY_CUDA(cudnnBackendCreateDescriptor(type, &handle_));
}

CudnnDescriptor::~CudnnDescriptor() {
  if (handle_ != nullptr) (void)cudnnBackendDestroyDescriptor(handle_);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          const void* values, std::int64_t count) {
  const cudnnStatus_t result = cudnnBackendSetAttribute(handle_, name, type, count, values);
  if (result == CUDNN_STATUS_SUCCESS) return;
  check_cuda(result, fmt::format("cuDNN's attribute {}", static_cast<int>(name)).c_str());
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, std::int64_t value) {
  set(name, CUDNN_TYPE_INT64, &value);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, bool value) {
  set(name, CUDNN_TYPE_BOOLEAN, &value);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
  set(name, CUDNN_TYPE_DATA_TYPE, &value);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const std::vector<std::int64_t>& values) {
  set(name, CUDNN_TYPE_INT64, values.data(), static_cast<std::int64_t>(values.size()));
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  const cudnnBackendDescriptor_t handle = value;
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, &handle);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                          const std::vector<CudnnDescriptor>& values) {
  const std::vector<cudnnBackendDescriptor_t> handles(values.begin(), values.end());
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles.data(),
      static_cast<std::int64_t>(handles.size()));
}

void CudnnDescriptor::finish() { HEADWAY_CUDA(cudnnBackendFinalize(handle_)); }

}  // namespace headway
