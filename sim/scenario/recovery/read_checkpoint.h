#pragma once

#include <vector>

#include "sim/files/field_table.h"
#include "sim/scenario/read_reliability.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

/// Reads /reliability/checkpoint of a job on `nodes` nodes. The caller finishes the reader.
[[nodiscard]] CheckpointSettings read_checkpoint(ObjectReader& reader, const ReliableJob& job,
                                                 int nodes);

/// Its fields.
[[nodiscard]] std::vector<FieldDescription> checkpoint_field_descriptions();

}  // namespace headway
