#pragma once

#include <span>

#include "sim/jobs/synchronisation/synchronisation.h"
#include "sim/programs/stage_program.h"

namespace headway {

/// Makes the program of a stage the average one of a period in which replicas exchange what they
/// learned. An iteration has a share of each exchange's bytes and latency, `times` of `pieces`. It
/// begins when a share of the program's compute is done, and its end is waited for at the end of
/// the program; then each rank updates the parameters that it exchanged, where they are updated by
/// it: an outer step, of which an iteration has one in so many.
void add_exchanges(Program& program, const JobShape& job, int stage,
                   std::span<const ReplicaExchange> exchanges);

}  // namespace headway
