#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/suite/sweep.h"

namespace headway {

/// One product repeated without a pause, and what the device did meanwhile: clocks fall until power
/// and temperature are those that last.
struct SustainedRun {
  struct Part {
    Seconds once;       ///< median of a repetition
    DeviceState state;  ///< at the end
  };
  GemmPoint product;
  Seconds in_sweep;         ///< of one among the other points, between which the device rests
  Seconds time;             ///< of all repetitions
  std::vector<Part> parts;  ///< of equal length, in order; at least one

  [[nodiscard]] Seconds lasting() const;  ///< of one, the median over the later half of the parts
};

/// The largest product that was measured in the precision of the first one; nothing if none was.
[[nodiscard]] const MeasuredPoint* sustained_product(const std::vector<MeasuredPoint>& points);

/// Repeats it until the samples add up to `duration`; each rank for itself, all at once. Throws what
/// the backend throws, and Interrupted.
[[nodiscard]] SustainedRun sustained_run(Backend& backend, const MeasuredPoint& product,
                                         Seconds duration);

/// "gemm ... for 60 s: 650 TFLOP/s at 1700 MHz and 695 W, 0.96 of 677 among other points; by twelfths:
/// 668 TFLOP/s 1755 MHz 690 W, ...", for a profile's provenance.
[[nodiscard]] std::string sustained_text(const SustainedRun& run);

}  // namespace headway
