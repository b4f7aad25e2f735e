#pragma once

#include "sim/files/field_table.h"
#include "sim/jobs/strategy.h"

namespace headway {

// How fields of a strategy are read and written whose words stand in other tables, or who are
// written by rules of their own.

[[nodiscard]] FieldMember<Strategy> number_format();  ///< "bf16", "mxfp8", ...
[[nodiscard]] FieldMember<Strategy> pipeline_schedule();
/// Written where somebody says it, or where ranks do not have slices, as nearly all have.
[[nodiscard]] FieldMember<Strategy> optimizer_shards();

}  // namespace headway
