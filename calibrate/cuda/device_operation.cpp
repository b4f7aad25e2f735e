#include "calibrate/cuda/device_operation.h"

#include <chrono>
#include <utility>

#include "calibrate/cuda/event_wait.h"

namespace headway {
namespace {

constexpr Seconds kSampleTime = 300.0_us;

class GraphOperation final : public Operation {
 public:
  GraphOperation(Enqueue enqueue, Seconds gap) : work_(std::move(enqueue), kSampleTime, gap) {}
  Sample repeat() override {
    work_.launch(nullptr);
    const Seconds time = work_.finish();
    return {time, work_.was_let_go()};
  }

 private:
  CapturedWork work_;
};

class GapOperation final : public Operation {
 public:
  GapOperation()
      : work_(
            [this](cudaStream_t stream) {
              HEADWAY_CUDA(launch_stamp(stamps() + 2 * (next_++ % kKernels), stream));
            },
            kSampleTime) {}
  /// Repetitions follow each other in the memory too, from wherever the capture began.
  Sample repeat() override {
    work_.launch(nullptr);
    (void)work_.finish();
    double sum = 0.0;
    int gaps = 0;
    for (std::size_t i = 0; i + 1 < kKernels; ++i) {
      const auto ended = stamps()[2 * i + 1];
      const auto begun = stamps()[2 * i + 2];
      // Another launch's: no gap is as long as a kernel.
      if (ended == 0 || begun < ended || begun - ended > 20'000) continue;
      sum += 1e-9 * static_cast<double>(begun - ended);
      ++gaps;
    }
    if (gaps == 0) throw Refused("the device's timer does not tell the gap between two kernels");
    return {max(Seconds(sum / gaps), Seconds(1e-9)), work_.was_let_go()};
  }

 private:
  static constexpr std::size_t kKernels = 32;
  [[nodiscard]] unsigned long long* stamps() const {
    return static_cast<unsigned long long*>(memory_.data());
  }

  HostBuffer memory_{2 * kKernels * sizeof(unsigned long long)};
  std::size_t next_ = 0;
  CapturedWork work_;
};

class HostLaunchOperation final : public Operation {
 public:
  explicit HostLaunchOperation(Enqueue enqueue) : enqueue_(std::move(enqueue)) {}
  Sample repeat() override {
    const DeviceGuard guard(device_);
    constexpr int kLaunches = 500;  // fewer than the device's queue holds
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) enqueue_(stream_);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    HEADWAY_CUDA(cudaEventRecord(end_, stream_));
    wait_for(end_);
    return {Seconds(time.count() / kLaunches), false};
  }

 private:
  int device_ = current_device();
  Enqueue enqueue_;
  DeviceStream stream_;
  DeviceEvent end_;
};

}  // namespace

std::unique_ptr<Operation> device_operation(Enqueue enqueue, Seconds gap) {
  return std::make_unique<GraphOperation>(std::move(enqueue), gap);
}

std::unique_ptr<Operation> gap_operation() { return std::make_unique<GapOperation>(); }

std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue) {
  return std::make_unique<HostLaunchOperation>(std::move(enqueue));
}

}  // namespace headway
