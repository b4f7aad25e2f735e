#pragma once

#include <array>
#include <optional>
#include <vector>

namespace headway {

/// Logarithms of what the time of a kernel depends on; those that a kernel does not have are 0.
using LogSizes = std::array<double, 5>;

/// By how much a measured kernel differs from its formula.
struct MeasuredFactor {
  LogSizes sizes = {};
  double log_factor = 0.0;  ///< logarithm of measured over formula
  double spread = 0.0;      ///< of the measurement
};

struct Correction {
  double factor = 1.0;  ///< on the formula's time
  double spread = 0.0;  ///< of the measurements and between them
};

/// What the measured kernels say of one among them, or the one that has just these sizes: a plane
/// through the 12 nearest, weighted by their inverse squared distance (locally weighted regression,
/// Cleveland and Devlin 1988), its slopes held by a small penalty, as neighbours on a grid may stand
/// in a line, and its value by the least and the most of them. Nothing if it lies outside of their
/// range in any size, or more than a factor of 4 from the nearest.
[[nodiscard]] std::optional<Correction> table_correction(const LogSizes& sizes,
                                                         std::vector<MeasuredFactor> measured);

}  // namespace headway
