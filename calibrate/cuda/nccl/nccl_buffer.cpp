#include "calibrate/cuda/nccl/nccl_buffer.h"

#include <utility>

#include "calibrate/cuda/nccl/nccl_check.h"

// nccl_implementations() offers no registration that these versions lack.
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 19, 0)
#define HEADWAY_NCCL_REGISTERS
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
#define HEADWAY_NCCL_WINDOWS
#endif

namespace headway {

NcclBuffer::NcclBuffer(std::size_t bytes, BufferRegistration registration)
    : bytes_(bytes), registration_(registration) {
#ifdef HEADWAY_NCCL_REGISTERS
  if (registration_ != BufferRegistration::none) {
    HEADWAY_CUDA(ncclMemAlloc(&data_, bytes));
    return;
  }
#endif
  HEADWAY_CUDA(cudaMalloc(&data_, bytes));
}

void NcclBuffer::enrol([[maybe_unused]] ncclComm_t communicator) {
#ifdef HEADWAY_NCCL_REGISTERS
  if (registration_ == BufferRegistration::local) {
    HEADWAY_CUDA(ncclCommRegister(communicator, data_, bytes_, &handle_));
  }
#endif
#ifdef HEADWAY_NCCL_WINDOWS
  if (registration_ == BufferRegistration::symmetric) {
    HEADWAY_CUDA(
        ncclCommWindowRegister(communicator, data_, bytes_, &window_, NCCL_WIN_COLL_SYMMETRIC));
  }
#endif
}

void NcclBuffer::withdraw([[maybe_unused]] ncclComm_t communicator) {
#ifdef HEADWAY_NCCL_REGISTERS
  if (handle_ != nullptr) {
    HEADWAY_CUDA(ncclCommDeregister(communicator, std::exchange(handle_, nullptr)));
  }
#endif
#ifdef HEADWAY_NCCL_WINDOWS
  if (window_ != nullptr) {
    HEADWAY_CUDA(ncclCommWindowDeregister(communicator, std::exchange(window_, nullptr)));
  }
#endif
}

NcclBuffer::~NcclBuffer() {
#ifdef HEADWAY_NCCL_REGISTERS
  if (registration_ != BufferRegistration::none) {
    (void)ncclMemFree(data_);
    return;
  }
#endif
  (void)cudaFree(data_);
}

}  // namespace headway
