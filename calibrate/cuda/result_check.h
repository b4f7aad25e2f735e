#pragma once

#include <string>

#include "calibrate/suite/backend.h"

namespace headway {

/// Runs every kernel on some rows, and a product of every precision and layout, on the current
/// device and holds the results against plain C++. What was checked, in a line; throws
/// EnvironmentError naming the first that is wrong: times of a device that computes something else
/// are worth nothing.
[[nodiscard]] std::string checked_results(const Offer& offer);

}  // namespace headway
