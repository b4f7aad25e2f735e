#include "calibrate/cuda/captured_work.h"

#include <algorithm>
#include <utility>

#include "calibrate/cuda/event_wait.h"

namespace headway {

class CapturedWork::Graph {
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

CapturedWork::CapturedWork(Enqueue enqueue, Seconds time, Seconds gap, StreamPriority priority)
    : enqueue_(std::move(enqueue)), gap_(gap), stream_(priority) {
  constexpr double kMost = 200.0;
  enqueue_(stream_);  // libraries set themselves up, which a capture does not allow
  wait_for(stream_);
  hold_.begin();
  hold_.put_on(stream_);
  HEADWAY_CUDA(cudaEventRecord(start_, stream_));
  enqueue_(stream_);
  HEADWAY_CUDA(cudaEventRecord(end_, stream_));
  hold_.release();
  once_ = max(CapturedWork::finish(), Seconds(1e-7));
  repetitions_ = static_cast<int>(std::clamp(time / once_, 1.0, kMost));
  capture();
  graph_->launch(stream_);  // uploads it, which a stream that is held would wait for
  wait_for(stream_);
}

CapturedWork::~CapturedWork() = default;

void CapturedWork::capture() {
  const DeviceGuard guard(device_);
  graph_.reset();
  graph_ = std::make_unique<Graph>(stream_, enqueue_, repetitions_);
}

void CapturedWork::double_repetitions() {
  repetitions_ *= 2;
  capture();
}

void CapturedWork::launch(const RepeatedWork* after) {
  const DeviceGuard guard(device_);
  const cudaEvent_t earlier = event_of(after);
  hold_.begin();
  hold_.put_on(stream_);
  if (earlier != nullptr) HEADWAY_CUDA(cudaStreamWaitEvent(stream_, earlier, 0));
  HEADWAY_CUDA(cudaEventRecord(start_, stream_));
  graph_->launch(stream_);
  HEADWAY_CUDA(cudaEventRecord(end_, stream_));
  hold_.release();
}

bool CapturedWork::has_ended() const { return has_passed(end_); }

Seconds CapturedWork::finish() {
  wait_for(end_);
  return max(elapsed_time(start_, end_) / repetitions_ - gap_, Seconds(1e-8));
}

}  // namespace headway
