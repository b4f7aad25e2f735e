#pragma once

#include "sim/programs/workload.h"

namespace headway {

/// The program with every operation of every pass, each collective with a slot of its own.
[[nodiscard]] Program written_out(Program program);

}  // namespace headway
