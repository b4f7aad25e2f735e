#pragma once

#include "sim/result/study.h"
#include "sim/sweep/sweep_store.h"

namespace headway {

/// A sweep as reports show it. Throws InputError if a result in it cannot be read.
[[nodiscard]] Study study_of(const SweepContent& sweep);

}  // namespace headway
