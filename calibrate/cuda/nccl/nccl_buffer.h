#pragma once

#include <cstddef>

#include "calibrate/cuda/nccl/nccl_api.h"
#include "calibrate/cuda/nccl/nccl_implementation.h"

namespace headway {

/// Memory of the current device that a communicator's collectives read or write, registered with it
/// as asked for.
class NcclBuffer {
 public:
  NcclBuffer(std::size_t bytes, BufferRegistration registration);
  ~NcclBuffer();
  NcclBuffer(const NcclBuffer&) = delete;
  NcclBuffer& operator=(const NcclBuffer&) = delete;

  /// Registers and no longer. Call on all ranks in the same order, for the ranks of one process
  /// between ncclGroupStart and ncclGroupEnd: a symmetric window belongs to all of them together.
  void enrol(ncclComm_t communicator);
  void withdraw(ncclComm_t communicator);
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  BufferRegistration registration_;
  void* data_ = nullptr;
  void* handle_ = nullptr;
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 0)
  ncclWindow_t window_ = nullptr;
#endif
};

}  // namespace headway
