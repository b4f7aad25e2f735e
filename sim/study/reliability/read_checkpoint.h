#pragma once

#include "sim/base/json_reader.h"
#include "sim/study/reliability/read_reliability.h"
#include "sim/study/reliability/reliability_settings.h"

namespace headway {

/// Reads /reliability/checkpoint of a job on `nodes` nodes. The caller finishes the reader.
[[nodiscard]] CheckpointSettings read_checkpoint(ObjectReader& reader, const ReliableJob& job,
                                                 int nodes);

}  // namespace headway
