#include "calibrate/cuda/device_operation.h"

#include <chrono>
#include <utility>

#include "calibrate/cuda/event_wait.h"

namespace headway {
namespace {

constexpr Seconds kSampleTime = 300.0_us;

class GraphOperation final : public Operation {
 public:
  explicit GraphOperation(Enqueue enqueue) : work_(std::move(enqueue), kSampleTime) {}
  Sample repeat() override {
    work_.launch();
    return {work_.finish(), false};
  }

 private:
  CapturedWork work_;
};

/// The neighbour has to outlast what is timed, which it slows down by nobody knows how much.
class ConcurrentOperation final : public Operation {
 public:
  ConcurrentOperation(Enqueue timed, Enqueue beside)
      : timed_(std::move(timed), kSampleTime),
        beside_(std::move(beside), 4.0 * timed_.expected_time()) {}
  /// Contaminated where the neighbour ended first, which then is made longer.
  Sample repeat() override {
    beside_.launch();
    timed_.launch_beside(beside_);
    Sample sample{timed_.finish(), beside_.has_ended()};
    (void)beside_.finish();
    sample.besides = beside_.expected_time();
    if (sample.contaminated && beside_.expected_time() < kLongest) beside_.double_repetitions();
    return sample;
  }

 private:
  static constexpr Seconds kLongest = 50.0_ms;
  CapturedWork timed_;
  CapturedWork beside_;
};

class HostLaunchOperation final : public Operation {
 public:
  explicit HostLaunchOperation(Enqueue enqueue) : enqueue_(std::move(enqueue)) {}
  Sample repeat() override {
    constexpr int kLaunches = 500;  // fewer than the device's queue holds
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) enqueue_(stream_);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    HEADWAY_CUDA(cudaEventRecord(end_, stream_));
    wait_for(end_);
    return {Seconds(time.count() / kLaunches), false};
  }

 private:
  Enqueue enqueue_;
  DeviceStream stream_;
  DeviceEvent end_;
};

}  // namespace

std::unique_ptr<Operation> device_operation(Enqueue enqueue) {
  return std::make_unique<GraphOperation>(std::move(enqueue));
}

std::unique_ptr<Operation> concurrent_operation(Enqueue timed, Enqueue beside) {
  return std::make_unique<ConcurrentOperation>(std::move(timed), std::move(beside));
}

std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue) {
  return std::make_unique<HostLaunchOperation>(std::move(enqueue));
}

}  // namespace headway
