#pragma once

#include <cstddef>
#include <utility>

#include "calibrate/cuda/cuda_check.h"
#include "sim/base/units.h"

namespace headway {

/// Makes a device the current one as long as this object lives: streams, events and memory belong
/// to the device that was current when they were made, and are used with it only.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    HEADWAY_CUDA(cudaGetDevice(&before_));
    HEADWAY_CUDA(cudaSetDevice(device));
  }
  ~DeviceGuard() { (void)cudaSetDevice(before_); }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
};

[[nodiscard]] inline int current_device() {
  int device = 0;
  HEADWAY_CUDA(cudaGetDevice(&device));
  return device;
}

/// Device memory that is handed out round and round, so that repetitions do not find their operands
/// in the device's cache.
class DevicePool {
 public:
  explicit DevicePool(std::size_t bytes) : bytes_(bytes) {
    HEADWAY_CUDA(cudaMalloc(&data_, bytes));
  }
  ~DevicePool() { (void)cudaFree(data_); }
  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;

  /// Other memory of `bytes` instead, with nothing in it. Where there is not so much, as much as
  /// before, and throws Refused; none where another program has taken that meanwhile.
  void enlarge(std::size_t bytes) {
    HEADWAY_CUDA(cudaFree(std::exchange(data_, nullptr)));
    next_ = 0;
    const std::size_t before = std::exchange(bytes_, 0);
    try {
      HEADWAY_CUDA(cudaMalloc(&data_, bytes));
    } catch (const Refused&) {
      HEADWAY_CUDA(cudaMalloc(&data_, before));
      bytes_ = before;
      throw;
    }
    bytes_ = bytes;
  }
  /// Throws Refused where enlarge lost the memory; no operand is larger than its pool else.
  [[nodiscard]] void* take(std::size_t bytes) {
    if (bytes_ == 0) throw Refused("the memory for operands was taken by another program");
    HEADWAY_CHECK(bytes <= bytes_, "an operand larger than its pool");
    if (next_ + bytes > bytes_) next_ = 0;
    void* const taken = static_cast<std::byte*>(data_) + next_;
    next_ += (bytes + 255) / 256 * 256;  // as cudaMalloc aligns
    return taken;
  }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  std::size_t next_ = 0;
};

/// Blocks of an urgent stream's kernels get the multiprocessors that become free before those of
/// others, as frameworks have it for the collectives that they overlap: these would wait for every
/// wave of a product else.
enum class StreamPriority { normal, urgent };

class DeviceStream {
 public:
  explicit DeviceStream(StreamPriority priority = StreamPriority::normal) { make(priority); }
  explicit DeviceStream(int device) {
    const DeviceGuard guard(device);
    make(StreamPriority::normal);
  }
  ~DeviceStream() { (void)cudaStreamDestroy(stream_); }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT: it is one

 private:
  void make(StreamPriority priority) {
    int least = 0;
    int most = 0;
    HEADWAY_CUDA(cudaDeviceGetStreamPriorityRange(&least, &most));
    HEADWAY_CUDA(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                              priority == StreamPriority::urgent ? most : least));
  }
  cudaStream_t stream_ = nullptr;
};

class DeviceEvent {
 public:
  DeviceEvent() { HEADWAY_CUDA(cudaEventCreate(&event_)); }
  ~DeviceEvent() { (void)cudaEventDestroy(event_); }
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  operator cudaEvent_t() const { return event_; }  // NOLINT: it is one

 private:
  cudaEvent_t event_ = nullptr;
};

[[nodiscard]] inline Seconds elapsed_time(const DeviceEvent& start, const DeviceEvent& end) {
  float milliseconds = 0.0F;
  HEADWAY_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

}  // namespace headway
