#pragma once

#include <memory>

#include "calibrate/cuda/device_resources.h"
#include "calibrate/cuda/device_work.h"
#include "calibrate/cuda/enqueue.h"
#include "calibrate/cuda/stream_hold.h"

namespace headway {

/// Repetitions of an operation on a stream of their own, captured in a graph, so that the host's
/// launches do not show; timed by events around the graph, which the stream does not reach before
/// the host has launched it. On the device that is current when it is made, whichever is later.
class CapturedWork final : public DeviceWork {
 public:
  /// As many repetitions as take about `time`, but no fewer than one and no more than 200. Runs the
  /// operation twice. `gap` passes between two kernels of a graph, and counts as none of theirs.
  CapturedWork(Enqueue enqueue, Seconds time, Seconds gap = {},
               StreamPriority priority = StreamPriority::normal);
  ~CapturedWork() override;

  void launch(const RepeatedWork* after) override;
  [[nodiscard]] bool has_ended() const override;
  [[nodiscard]] Seconds finish() override;
  [[nodiscard]] Seconds expected_time() const override { return repetitions_ * once_; }
  void double_repetitions() override;
  [[nodiscard]] cudaEvent_t begun() const override { return start_; }
  /// Whether the stream was not held to the end of the last launch, so that the host shows.
  [[nodiscard]] bool was_let_go() const { return hold_.has_expired(); }

 private:
  class Graph;
  void capture();

  int device_ = current_device();
  Enqueue enqueue_;
  Seconds gap_;
  StreamHold hold_;
  DeviceStream stream_;
  DeviceEvent start_;
  DeviceEvent end_;
  Seconds once_;
  int repetitions_ = 1;
  std::unique_ptr<Graph> graph_;
};

}  // namespace headway
