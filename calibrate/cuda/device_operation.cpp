#include "calibrate/cuda/device_operation.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/cuda/event_wait.h"

namespace headway {
namespace {

constexpr Seconds kSampleTime = 300.0_us;

class GraphOperation final : public Operation {
 public:
  explicit GraphOperation(Enqueue enqueue) : work_(std::move(enqueue), kSampleTime) {}
  Sample repeat() override {
    work_.launch(nullptr);
    return {work_.finish(), false};
  }

 private:
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

std::unique_ptr<Operation> device_operation(Enqueue enqueue) {
  return std::make_unique<GraphOperation>(std::move(enqueue));
}

std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue) {
  return std::make_unique<HostLaunchOperation>(std::move(enqueue));
}

}  // namespace headway
