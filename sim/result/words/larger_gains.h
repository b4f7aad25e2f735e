#pragma once

#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// The sentence on what a job loses outside the causes of an iteration, where that is a larger
/// share of its time than `share`, which the largest of those takes; else empty:
///
/// accelerators that wait for slower kinds, on average over all, and what a recovery takes over
/// weeks, of all GPU-hours.
[[nodiscard]] std::string larger_gain(const Prediction& prediction, double share);

}  // namespace headway
