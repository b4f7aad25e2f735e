#include "calibrate/cuda/device_operation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "calibrate/cuda/device_wait.h"

namespace headway {
namespace {

constexpr double kSampleTime = 3e-4;
constexpr int kMostInGraph = 200;
constexpr Seconds kDeadline = 60.0_s;

void wait_for(const DeviceEvent& event) {
  wait_until(
      [&event] {
        const cudaError_t state = cudaEventQuery(event);
        if (state == cudaErrorNotReady) return WaitState::waiting;
        HEADWAY_CUDA(state);
        return WaitState::done;
      },
      kDeadline, "an operation on the device");
}

class Graph {
 public:
  Graph(cudaStream_t stream, const Enqueue& enqueue, int repetitions) {
    HEADWAY_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < repetitions; ++i) enqueue(stream);
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) (void)cudaGraphDestroy(graph);
      throw;
    }
    HEADWAY_CUDA(cudaStreamEndCapture(stream, &graph));
    const cudaError_t result = cudaGraphInstantiate(&executable_, graph, 0);
    (void)cudaGraphDestroy(graph);
    HEADWAY_CUDA(result);
  }
  ~Graph() { (void)cudaGraphExecDestroy(executable_); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(cudaStream_t stream) const { HEADWAY_CUDA(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class GraphOperation final : public Operation {
 public:
  explicit GraphOperation(const Enqueue& enqueue) {
    enqueue(stream_);  // libraries set themselves up, which a capture does not allow
    HEADWAY_CUDA(cudaEventRecord(start_, stream_));
    enqueue(stream_);
    HEADWAY_CUDA(cudaEventRecord(end_, stream_));
    wait_for(end_);
    const double once = std::max(elapsed_time(start_, end_).count(), 1e-7);
    repetitions_ = static_cast<int>(std::clamp(kSampleTime / once, 1.0, double{kMostInGraph}));
    graph_ = std::make_unique<Graph>(stream_, enqueue, repetitions_);
  }
  Sample repeat() override {
    HEADWAY_CUDA(cudaEventRecord(start_, stream_));
    graph_->launch(stream_);
    HEADWAY_CUDA(cudaEventRecord(end_, stream_));
    wait_for(end_);
    return {elapsed_time(start_, end_) / repetitions_, false};
  }

 private:
  DeviceStream stream_;
  DeviceEvent start_;
  DeviceEvent end_;
  int repetitions_ = 1;
  std::unique_ptr<Graph> graph_;
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
  return std::make_unique<GraphOperation>(enqueue);
}

std::unique_ptr<Operation> host_launch_operation(Enqueue enqueue) {
  return std::make_unique<HostLaunchOperation>(std::move(enqueue));
}

}  // namespace headway
