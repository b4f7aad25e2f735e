#pragma once

#include <memory>

#include "calibrate/cuda/device_resources.h"
#include "calibrate/cuda/device_work.h"
#include "calibrate/cuda/enqueue.h"

namespace headway {

/// Repetitions of an operation on a stream of their own, captured in a graph, so that the host's
/// launches do not show; timed by events around the graph. On the device that is current when it is
/// made, whichever is later.
class CapturedWork final : public DeviceWork {
 public:
  /// As many repetitions as take about `time`, but no fewer than one and no more than 200. Runs the
  /// operation twice.
  CapturedWork(Enqueue enqueue, Seconds time);
  ~CapturedWork() override;

  void launch(const RepeatedWork* after) override;
  [[nodiscard]] bool has_ended() const override;
  [[nodiscard]] Seconds finish() override;
  [[nodiscard]] Seconds expected_time() const override { return repetitions_ * once_; }
  void double_repetitions() override;
  [[nodiscard]] cudaEvent_t begun() const override { return start_; }

 private:
  class Graph;
  void capture();

  int device_ = current_device();
  Enqueue enqueue_;
  DeviceStream stream_;
  DeviceEvent start_;
  DeviceEvent end_;
  Seconds once_;
  int repetitions_ = 1;
  std::unique_ptr<Graph> graph_;
};

}  // namespace headway
