#pragma once

#include "sim/result/study.h"
#include "sim/sweep/stored_sweep.h"

namespace headway {

/// A point as reports show it.
[[nodiscard]] StudyPoint study_point(const SweepPoint& point);

/// A sweep as reports show it. Throws InputError if a result in it cannot be read.
[[nodiscard]] Study study_of(const StoredSweep& sweep);

}  // namespace headway
