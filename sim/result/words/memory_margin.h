#pragma once

#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// Published jobs that need at least this share of what there is by this estimate and no more than
/// all: how many, and how many of them ran out of memory (`headway validate --memory`: limits of 95
/// and 100 %). Those that did are trials of one source, arXiv:2311.05610.
struct FullMemory {
  static constexpr double share = 0.95;
  static constexpr int jobs = 48;
  static constexpr int ran_out = 12;
};

/// "of 48 published jobs as full 12 ran out"; empty for a job that leaves more, or does not fit.
[[nodiscard]] std::string memory_margin(const MemoryPrediction& memory);

}  // namespace headway
