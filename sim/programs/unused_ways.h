#pragma once

#include "sim/programs/workload.h"

namespace headway {

/// Empties plans by which no message goes: the engine need not look at their links.
void drop_unused_ways(Workload& workload);

}  // namespace headway
