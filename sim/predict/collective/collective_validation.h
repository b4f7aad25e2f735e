#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/predict/collective/collective_sweeps.h"
#include "sim/predict/collective/collective_table.h"

namespace headway {

/// What bounds a message: up to 64 KiB its steps' latency, from 16 MiB on the bandwidth.
enum class SizeClass { latency_bound, between, bandwidth_bound };
inline constexpr SizeClass kSizeClasses[] = {SizeClass::latency_bound, SizeClass::between,
                                             SizeClass::bandwidth_bound};
[[nodiscard]] SizeClass size_class(Bytes size);

struct ScoredPoint {
  Seconds published;
  CollectiveRow predicted;
  [[nodiscard]] double error() const { return predicted.time / published - 1.0; }
};

struct ScoredSweep {
  PublishedSweep sweep;
  std::string cluster;  ///< its name
  int ranks = 0;
  std::vector<ScoredPoint> points;
};

/// Medians over points, each counting once.
struct PointErrors {
  int count = 0;
  double median = 0.0;  ///< of |error|
  double bias = 0.0;    ///< median of error
};

struct CollectiveValidation {
  std::vector<ScoredSweep> sweeps;
  std::vector<UnscoredSweep> unscored;
};

/// How far off the points of a size class are that `is_counted` says yes to, and that are told.
[[nodiscard]] PointErrors point_errors(const CollectiveValidation& validation, SizeClass size,
                                       const std::function<bool(const ScoredSweep&)>& is_counted);

/// Simulates every scored sweep of a file of published ones (of that which ships if `path` is
/// empty) as `headway collective --library nccl` does. Throws InputError if the file is not such a
/// file or a sweep's topology cannot be read.
[[nodiscard]] CollectiveValidation validate_collectives(const std::string& path, int jobs,
                                                        Diagnostics& diagnostics);

}  // namespace headway
