#pragma once

#include <string>
#include <vector>

#include "calibrate/cuda/cuda_backend.h"

namespace headway {

/// How far what is measured on the fake device is off its law, of points of one kind.
struct Bias {
  std::string what;
  double allowed = 0.0;             ///< of each point, relative
  std::vector<double> of_backend;   ///< measured over true, less 1
  std::vector<double> of_events;    ///< the same with events around one launch, as is usual
  std::vector<std::string> points;  ///< by name, in the order of both
};

/// Products of 20 us and more and shorter ones; collectives of 64 KiB and more and smaller ones.
[[nodiscard]] std::vector<Bias> biases(CudaBackend& backend);

/// A line for each, with the median and the largest of both ways.
[[nodiscard]] std::string bias_table(const std::vector<Bias>& all);

/// Names of the points that are further off than allowed, with how far; empty: none is.
[[nodiscard]] std::vector<std::string> too_far(const Bias& bias);

/// The median of some samples, as sweeps take it.
[[nodiscard]] double measured_time(CudaBackend& backend, const Point& point);

}  // namespace headway
