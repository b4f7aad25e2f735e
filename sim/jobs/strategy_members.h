#pragma once

#include "sim/files/field_table.h"
#include "sim/jobs/strategy.h"

namespace headway {

// How fields of a strategy are read and written whose words stand in other tables.

[[nodiscard]] FieldMember<Strategy> number_format();  ///< "bf16", "mxfp8", ...
[[nodiscard]] FieldMember<Strategy> pipeline_schedule();
[[nodiscard]] FieldMember<Strategy> software_memory();

}  // namespace headway
