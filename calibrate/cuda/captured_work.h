#pragma once

#include <functional>
#include <memory>

#include "calibrate/cuda/device_resources.h"

namespace headway {

/// Puts one repetition of an operation on a stream.
using Enqueue = std::function<void(cudaStream_t)>;

/// Repetitions of an operation on a stream of their own, captured in a graph, so that the host's
/// launches do not show; timed by events around the graph.
class CapturedWork {
 public:
  /// As many repetitions as take about `time`, but no fewer than one and no more than 200. Runs the
  /// operation twice.
  CapturedWork(Enqueue enqueue, Seconds time);
  ~CapturedWork();

  void launch();
  /// Not before `other`, which was launched, has begun.
  void launch_beside(const CapturedWork& other);
  [[nodiscard]] bool has_ended() const;
  /// Waits for the end; the time of one repetition.
  [[nodiscard]] Seconds finish() const;
  /// What all repetitions take, as far as is known.
  [[nodiscard]] Seconds expected_time() const { return repetitions_ * once_; }
  /// Twice as many repetitions from the next launch on.
  void double_repetitions();

 private:
  class Graph;
  void capture();

  Enqueue enqueue_;
  DeviceStream stream_;
  DeviceEvent start_;
  DeviceEvent end_;
  Seconds once_;
  int repetitions_ = 1;
  std::unique_ptr<Graph> graph_;
};

}  // namespace headway
