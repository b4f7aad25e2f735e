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
  /// How long a part lasts, with as many passes between as the first part has: the median over the
  /// later half of such parts.
  [[nodiscard]] Seconds lasting() const;
  /// The same without passes, where the run had such parts.
  [[nodiscard]] Seconds alone() const;
};

/// The share of a step that its passes and updates take, while products draw the more power: 39 of
/// 148 ms of compiled layers of Llama 3 8B on an H200 (a trace of scripts/torch_steps.py).
inline constexpr double kPassesShare = 0.25;

/// A product of a layer's sizes: the largest that was measured in the precision of the first one
/// and is short enough to be as fast as others (kThrottled), else the shortest; nothing if none
/// was.
[[nodiscard]] const MeasuredPoint* sustained_product(const std::vector<MeasuredPoint>& points);

/// The largest streaming pass that was measured; nothing if none was.
[[nodiscard]] std::optional<MemoryPoint> sustained_pass(const std::vector<MeasuredPoint>& points);

/// A product that takes as long alone draws the device's power for as long as its clock needs to
/// fall: on an H200 products of up to 3 ms reach 780 to 800 TFLOP/s among others, of 12 ms 690, of
/// 25 ms 680, and any that are repeated without a pause 660.
inline constexpr Seconds kThrottled{5e-3};

/// The share of the rate of large products among other points that the run's product keeps up. At
/// most 1.
[[nodiscard]] double sustained_rate(const SustainedRun& run,
                                    const std::vector<MeasuredPoint>& points);

/// Repeats the product until the samples add up to `duration`, with the pass between for
/// kPassesShare of the time, then for half of it, then without; each rank for itself, all at once.
/// Throws what the backend throws, and Interrupted.
[[nodiscard]] SustainedRun sustained_run(Backend& backend, const MeasuredPoint& product,
                                         const std::optional<MemoryPoint>& pass, Seconds duration);

/// "gemm ... for 60 s, 25 % of it passes at first: 650 TFLOP/s 1700 MHz 695 W, 0.960 of 677 TFLOP/s
/// in the sweep; part by part: 25 % 668 TFLOP/s 1755 MHz 690 W, ...", for a profile's provenance.
[[nodiscard]] std::string sustained_text(const SustainedRun& run);

}  // namespace headway
