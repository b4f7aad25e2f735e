#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/suite/sweep.h"

namespace headway {

/// One product repeated without a pause but for passes over memory, as in training, and what the
/// device did meanwhile: clocks fall until power and temperature are those that last.
struct SustainedRun {
  struct Part {
    double passes = 0.0;  ///< share of the time that passes take
    Seconds once;         ///< of a product, median
    DeviceState state;    ///< at the end
  };
  GemmPoint product;
  Seconds in_sweep;         ///< of one among the other points, between which the device rests
  Seconds time;             ///< of all repetitions
  std::vector<Part> parts;  ///< of equal length, in order; at least one

  [[nodiscard]] bool has_passes() const { return parts.front().passes > 0.0; }
  /// Of one, with as many passes between as the first part has: the median over the later half of
  /// such parts.
  [[nodiscard]] Seconds lasting() const;
};

/// Of a step what its passes and updates take, while products draw the more power: 39 of 148 ms of
/// compiled layers of Llama 3 8B on an H200 (a trace of scripts/torch_steps.py).
inline constexpr double kPassesShare = 0.25;

/// The largest product that was measured in the precision of the first one; nothing if none was.
[[nodiscard]] const MeasuredPoint* sustained_product(const std::vector<MeasuredPoint>& points);

/// The largest streaming pass that was measured; nothing if none was.
[[nodiscard]] std::optional<MemoryPoint> sustained_pass(const std::vector<MeasuredPoint>& points);

/// Repeats the product until the samples add up to `duration`, with the pass between for
/// kPassesShare of the time, then for half of it, then without; each rank for itself, all at once.
/// Throws what the backend throws, and Interrupted.
[[nodiscard]] SustainedRun sustained_run(Backend& backend, const MeasuredPoint& product,
                                         const std::optional<MemoryPoint>& pass, Seconds duration);

/// "gemm ... for 60 s, 25 % of it passes: 650 TFLOP/s at 1700 MHz and 695 W, 0.96 of 677 among
/// other points; in its parts: 25 % 668 TFLOP/s 1755 MHz 690 W, ...", for a profile's provenance.
[[nodiscard]] std::string sustained_text(const SustainedRun& run);

}  // namespace headway
